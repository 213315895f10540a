// SPDX-License-Identifier: Apache-2.0
// Reads values off a chart: the pointer over the picture, or a slider for the keyboard, says what the lines are there.

/** One place along x: its coordinate in the wide and in the narrow picture, and its values in words. */
type Place = readonly [wide: number, narrow: number, words: string];

/** Adds the reading line to a `figure.chart[data-read]`. */
export function addReading(figure: HTMLElement): void {
  const places = JSON.parse(figure.dataset["read"] ?? "[]") as Place[];
  const pictures = [...figure.querySelectorAll<SVGSVGElement>("svg.plot")];
  if (places.length < 2 || pictures.length === 0) return;

  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: "0", max: String(places.length - 1), value: "0" });
  slider.setAttribute("aria-label", "Read the chart");
  slider.setAttribute("aria-valuetext", places[0]![2]);
  const words = document.createElement("span");
  const line = document.createElement("div");
  line.className = "reading";
  line.append(slider, words);
  pictures.at(-1)!.after(line);

  const cursors = pictures.map((picture) => {
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const { height } = picture.viewBox.baseVal;
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("y1", "30");
    cursor.setAttribute("y2", String(height - 48));
    return cursor;
  });

  const show = (index: number): void => {
    const place = places[index]!;
    slider.value = String(index);
    slider.setAttribute("aria-valuetext", place[2]);
    words.textContent = place[2];
    pictures.forEach((picture, i) => {
      const x = String(picture.classList.contains("n") ? place[1] : place[0]);
      cursors[i]!.setAttribute("x1", x);
      cursors[i]!.setAttribute("x2", x);
      picture.append(cursors[i]!);
    });
  };
  const hide = (): void => {
    if (document.activeElement === slider) return;
    words.textContent = "";
    for (const cursor of cursors) cursor.remove();
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  slider.addEventListener("focus", () => show(Number(slider.value)));
  slider.addEventListener("blur", hide);
  pictures.forEach((picture) => {
    const column = picture.classList.contains("n") ? 1 : 0;
    picture.addEventListener("pointermove", (event) => {
      const matrix = picture.getScreenCTM();
      if (!matrix) return;
      const { x } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      let nearest = 0;
      places.forEach((place, i) => {
        if (Math.abs(place[column] - x) < Math.abs(places[nearest]![column] - x)) nearest = i;
      });
      show(nearest);
    });
    picture.addEventListener("pointerleave", hide);
  });
}
