// SPDX-License-Identifier: Apache-2.0
// Small pictures for demos: scales, axes, lines, stems, draggable handles and drawing pads, as Lit SVG templates.
// Units are the viewBox's, which for a picture 640 wide is about a CSS pixel on a desktop.

import { svg, type SVGTemplateResult } from "lit";

export interface Scale {
  /** From a value to a coordinate. */
  (value: number): number;
  /** From a coordinate to a value. */
  invert(at: number): number;
  readonly domain: readonly [number, number];
  readonly range: readonly [number, number];
  readonly log: boolean;
}

export function linearScale(
  domain: readonly [number, number],
  range: readonly [number, number],
): Scale {
  const [a, b] = domain;
  const [p, q] = range;
  const width = b - a || 1;
  const scale = (value: number): number => p + ((value - a) / width) * (q - p);
  const invert = (at: number): number => a + ((at - p) / (q - p || 1)) * width;
  return Object.assign(scale, { invert, domain, range, log: false });
}

/** Both ends of the domain must be positive. */
export function logScale(
  domain: readonly [number, number],
  range: readonly [number, number],
): Scale {
  const inner = linearScale([Math.log10(domain[0]), Math.log10(domain[1])], range);
  const scale = (value: number): number => inner(Math.log10(value));
  const invert = (at: number): number => 10 ** inner.invert(at);
  return Object.assign(scale, { invert, domain, range, log: true });
}

/** Round values inside the domain: about `count` of them, or the powers of ten of a log scale. */
export function ticks({ domain: [a, b], log }: Scale, count = 5): number[] {
  if (log) {
    const from = Math.ceil(Math.log10(a) - 1e-9);
    const to = Math.floor(Math.log10(b) + 1e-9);
    const stride = Math.max(1, Math.ceil((to - from) / (2 * count)));
    const powers: number[] = [];
    for (let e = from; e <= to; e += stride) powers.push(Number(`1e${e}`));
    return powers;
  }
  const raw = Math.abs(b - a) / Math.max(1, count);
  if (!(raw > 0)) return [a];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.8) ?? raw;
  const first = Math.ceil(Math.min(a, b) / step - 1e-9);
  const last = Math.floor(Math.max(a, b) / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

const superscript = (n: number): string =>
  String(n).replace(/[-0-9]/g, (c) =>
    c === "-"
      ? "\u207b"
      : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[Number(c)]!,
  );

/** A tick in words: 0.25, 1,000, 10 to the -6. */
export function tickText(value: number, log = false): string {
  if (log && value > 0 && (value < 0.01 || value > 9999))
    return `10${superscript(Math.round(Math.log10(value)))}`;
  return value.toLocaleString("en", { maximumSignificantDigits: 6 }).replace("-", "\u2212");
}

/** The horizontal axis at height y, with its title (unit included) at the right end, under the ticks. */
export function xAxis(scale: Scale, y: number, title: string, count = 6): SVGTemplateResult {
  const [p, q] = scale.range;
  return svg`<g class="axis" aria-hidden="true">
    <line x1=${p} x2=${q} y1=${y} y2=${y}></line>
    ${ticks(scale, count).map((tick) => {
      const x = scale(tick);
      return svg`<line x1=${x} x2=${x} y1=${y} y2=${y + 5}></line>
        <text x=${x} y=${y + 18} text-anchor="middle">${tickText(tick, scale.log)}</text>`;
    })}
    <text x=${q} y=${y + 34} text-anchor="end">${title} \u2192</text>
  </g>`;
}

/** The vertical axis at x, with faint lines to `gridTo` and its title above. */
export function yAxis(
  scale: Scale,
  x: number,
  title: string,
  gridTo = x,
  count = 4,
): SVGTemplateResult {
  const top = Math.min(...scale.range);
  return svg`<g class="axis" aria-hidden="true">
    ${ticks(scale, count).map((tick) => {
      const y = scale(tick);
      return svg`<line x1=${x} x2=${gridTo} y1=${y} y2=${y}></line>
        <text x=${x - 8} y=${y + 4} text-anchor="end">${tickText(tick, scale.log)}</text>`;
    })}
    <text x=${x - 8} y=${top - 12} text-anchor="start">\u2191 ${title}</text>
  </g>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** The `d` of a line through points; a value that is not finite leaves a gap. */
export function linePath(
  ys: ArrayLike<number>,
  x: (i: number) => number,
  y: (value: number) => number,
): string {
  let d = "";
  let pen = "M";
  for (let i = 0; i < ys.length; i++) {
    const value = y(ys[i]!);
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    d += `${pen}${round(x(i))},${round(value)}`;
    pen = "L";
  }
  return d;
}

/** The `d` of one stem for each value, from the base line up: a spectrum's needles. */
export function stemPath(
  ys: ArrayLike<number>,
  x: (i: number) => number,
  y: (value: number) => number,
): string {
  const base = round(y(0));
  let d = "";
  for (let i = 0; i < ys.length; i++) {
    if (Number.isFinite(ys[i]!)) d += `M${round(x(i))},${base}V${round(y(ys[i]!))}`;
  }
  return d;
}

/** Where a pointer is, in the units of the picture's viewBox. */
export function pointIn(
  picture: SVGSVGElement,
  event: { clientX: number; clientY: number },
): { x: number; y: number } {
  const matrix = picture.getScreenCTM();
  if (!matrix) return { x: 0, y: 0 };
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  return { x: point.x, y: point.y };
}

/**
 * Follows a pointer from its press: use as `@pointerdown=${(e) => follow(e, (p) => ...)}` on anything inside an svg.
 * `at` hears every place, coalesced ones too, so that a quickly drawn line has no holes. Give the thing the class
 * "handle" or "pad": it stops the page from scrolling under a finger.
 */
export function follow(
  event: PointerEvent,
  at: (point: { x: number; y: number }, previous: { x: number; y: number }) => void,
  end: () => void = () => {},
): void {
  if (event.button !== 0) return;
  const target = event.currentTarget as SVGGraphicsElement;
  const picture = target instanceof SVGSVGElement ? target : target.ownerSVGElement!;
  target.setPointerCapture(event.pointerId);
  let previous = pointIn(picture, event);
  at(previous, previous);
  const move = (next: PointerEvent): void => {
    const places = next.getCoalescedEvents?.() ?? [];
    for (const place of places.length > 0 ? places : [next]) {
      const point = pointIn(picture, place);
      at(point, previous);
      previous = point;
    }
  };
  const up = (): void => {
    target.removeEventListener("pointermove", move);
    target.removeEventListener("pointerup", up);
    target.removeEventListener("pointercancel", up);
    end();
  };
  target.addEventListener("pointermove", move);
  target.addEventListener("pointerup", up);
  target.addEventListener("pointercancel", up);
}

export interface HandleOptions {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** Change by one arrow key. */
  readonly step: number;
  /** The value in words, for those who cannot see it: "440 Hz". */
  readonly words: string;
  /** The value wanted by a key. */
  readonly onValue: (value: number) => void;
  /** The place wanted by a pointer, in viewBox units. */
  readonly onPoint: (point: { x: number; y: number }) => void;
  readonly radius?: number;
}

/** A round handle to drag, with the arrow keys, Home, End and Page keys doing the same. */
export function handle(o: HandleOptions): SVGTemplateResult {
  const keys = (event: KeyboardEvent): void => {
    const by: Record<string, number> = {
      ArrowLeft: -o.step,
      ArrowDown: -o.step,
      ArrowRight: o.step,
      ArrowUp: o.step,
      PageDown: -10 * o.step,
      PageUp: 10 * o.step,
    };
    let to = o.value;
    if (event.key === "Home") to = o.min;
    else if (event.key === "End") to = o.max;
    else if (event.key in by) to += by[event.key]!;
    else return;
    event.preventDefault();
    o.onValue(Math.min(o.max, Math.max(o.min, to)));
  };
  return svg`<circle
    class="handle"
    cx=${round(o.x)}
    cy=${round(o.y)}
    r=${o.radius ?? 12}
    role="slider"
    tabindex="0"
    aria-label=${o.label}
    aria-valuemin=${o.min}
    aria-valuemax=${o.max}
    aria-valuenow=${o.value}
    aria-valuetext=${o.words}
    @keydown=${keys}
    @pointerdown=${(event: PointerEvent) => follow(event, o.onPoint)}
  ></circle>`;
}

/**
 * Puts grey values (0 = paper, 255 = ink) into a canvas in the page's own ink and paper.
 * @param pixels width x height values, row by row
 */
export function paintGrey(
  canvas: HTMLCanvasElement,
  pixels: ArrayLike<number>,
  width: number,
  height: number,
): void {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(width, height);
  const [r, g, b] = resolveColour(canvas, "--_ink");
  for (let i = 0; i < width * height; i++) {
    image.data.set([r, g, b, pixels[i] ?? 0], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

/** Red, green and blue (0 to 255) of a custom property as it comes out at an element, light or dark. */
export function resolveColour(at: Element, property: string): [number, number, number] {
  const probe = document.createElement("canvas");
  probe.width = probe.height = 1;
  const context = probe.getContext("2d", { willReadFrequently: true });
  const host = document.createElement("span");
  host.hidden = true;
  host.style.color = `var(${property})`;
  at.parentNode?.appendChild(host);
  if (context) context.fillStyle = getComputedStyle(host).color;
  host.remove();
  context?.fillRect(0, 0, 1, 1);
  const [r = 0, g = 0, b = 0] = context?.getImageData(0, 0, 1, 1).data ?? [];
  return [r, g, b];
}

/** Bytes as letters of base64url, short enough for a link: `text` parameters carry drawn signals and pictures. */
export function packBytes(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}

/** The bytes again; undefined when the text is none of ours. */
export function unpackBytes(text: string): Uint8Array | undefined {
  if (!/^[-_0-9A-Za-z]*$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) =>
      c.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}
