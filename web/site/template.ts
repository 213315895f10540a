// SPDX-License-Identifier: Apache-2.0
// The frames of pages: head, article, home.

import { glyph, glyphSprite, kindOrder } from "./figures.ts";
import type { Page } from "./page-data.ts";
import type { Kind } from "./records.ts";
import { attributes, escapeHtml, proseHtml, typographic } from "./text.ts";

/** The site's policy; a server sends it too, and then both hold. */
export const policy =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'";

/** Addresses of what a page needs, relative to the page. */
export interface Links {
  readonly css: string;
  readonly font: string;
  readonly icon: string;
  readonly scripts: readonly string[];
  readonly home: string;
  /** Sections of the home page that have a page in them. */
  readonly sections: readonly { id: string; title: string }[];
}

/** The home page's sections, those without a page left out. */
export function sectionsOf(
  pages: readonly Page[],
): { kind: Page["kind"]; id: string; title: string }[] {
  const all = [
    { kind: "long-read", id: "long-reads", title: "Long reads" },
    { kind: "lab", id: "labs", title: "Labs" },
  ] as const;
  return all.filter(({ kind }) => pages.some((page) => page.kind === kind));
}

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** "2026-11-30" as "30 November 2026". */
export function dateWords(date: string): string {
  const [year, month, day] = date.split("-").map(Number);
  return `${day} ${months[month! - 1]} ${year}`;
}

export const kindName = (kind: Page["kind"]): string => (kind === "lab" ? "Lab" : "Long read");

function frame(
  title: string,
  description: string,
  links: Links,
  bodyClass: string,
  body: string,
): string {
  const scripts = links.scripts
    .map((src) => `<script type="module" src="${src}"></script>`)
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${links.icon}">
<link rel="preload" href="${links.font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${links.css}">
${scripts}
</head>
<body class="${bodyClass}">
<a class="skip" href="#main">Skip to the text</a>
${glyphSprite}
<header class="top">
${bodyClass === "home" ? "" : `<a class="name" href="${links.home}">Assay</a>`}
<nav aria-label="Site">${links.sections.map(({ id, title }) => `<a href="${links.home}#${id}">${title}</a>`).join("")}</nav>
</header>
${body}
</body>
</html>
`;
}

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** How many figures and tables of each kind a page has; tables are exact. */
export function counts(page: Page): Map<Kind, number> {
  const result = new Map<Kind, number>();
  for (const { kind } of page.figures) result.set(kind, (result.get(kind) ?? 0) + 1);
  if (page.tables.length > 0) result.set("exact", (result.get("exact") ?? 0) + page.tables.length);
  return result;
}

function kindList(page: Page): string {
  const found = counts(page);
  return kindOrder
    .filter((kind) => found.has(kind))
    .map((kind) => `<li class="${kind}">${glyph(kind)} ${found.get(kind)} ${kind}</li>`)
    .join("");
}

/** What the browser does with the exact figures, in a sentence. */
export function recomputed(page: Page): string {
  const exact = [...page.figures.filter(({ kind }) => kind === "exact"), ...page.tables];
  const number = (as: string): number => exact.filter((item) => item.as === as).length;
  const [shown, reduced, native] = [number("shown"), number("reduced"), number("native-only")];
  const whole =
    shown === exact.length
      ? "Your browser recomputes all the exact ones as shown"
      : `Of the ${exact.length} exact ones your browser recomputes ` +
        [shown > 0 ? `${shown} as shown` : "", reduced > 0 ? `${reduced} at a smaller size` : ""]
          .filter(Boolean)
          .join(" and ") +
        (native > 0 ? `; ${native} ${native === 1 ? "is" : "are"} native only` : "");
  return `${whole}. It runs the same C++ that made this page, and compares every bit.`;
}

function verifyPanel(page: Page): string {
  const list = `<ul class="kinds">${kindList(page)}</ul>`;
  if (!page.verifiable) {
    return `<section class="verify" aria-labelledby="verify-h"><h2 id="verify-h">What you can verify here</h2>${list}<p>This page has no record for the browser yet; the commands at its end recompute it natively.</p></section>`;
  }
  const exact = [...page.figures.filter(({ kind }) => kind === "exact"), ...page.tables];
  const here = exact.filter(({ as }) => as !== "native-only").length;
  return (
    `<section class="verify" aria-labelledby="verify-h"${attributes({
      "data-record": "verify.json",
      "data-label": `Verify ${here === 1 ? "it" : `all ${here}`} in this browser`,
    })}><h2 id="verify-h">What you can verify here</h2>${list}` +
    `<p>${recomputed(page)}</p>` +
    `<div class="verify-place"></div></section>`
  );
}

function reproduce(page: Page): string {
  const data = page.data
    .map(({ name, source, licence, url }) => {
      const words = url
        ? `<a href="${escapeHtml(url)}">${escapeHtml(source)}</a>`
        : escapeHtml(source);
      return `<li><code>${escapeHtml(name)}</code>: ${words}${licence ? ` (${escapeHtml(licence)})` : ""}</li>`;
    })
    .join("");
  const args = Object.entries(page.args)
    .map(([name, value]) => `<code>${escapeHtml(name)}=${escapeHtml(value)}</code>`)
    .join(" ");
  return (
    `<section class="again" aria-labelledby="how-to-reproduce"><h2 id="how-to-reproduce">How to reproduce</h2>` +
    `<p>On Debian 12, in a clone of the repository:</p><div class="listing"><pre class="code" tabindex="0"><code>` +
    `tools/site --labs=${page.slug}\n` +
    `bazel run //web:lab -- verify ${page.slug}\n` +
    `bazel run //web:lab -- run ${page.slug} --profile=full</code></pre></div>` +
    `<p>The first line builds everything, runs this lab and serves the site; the second recomputes every exact figure and compares; the third makes the page's numbers anew.</p>` +
    `<dl>${args ? `<dt>arguments</dt><dd>${args}</dd>` : ""}` +
    (data ? `<dt>data</dt><dd><ul>${data}</ul></dd>` : "") +
    `<dt>code</dt><dd>${page.rooms.map((room) => `<code>//${escapeHtml(room)}</code>`).join(" ")} <code>//web/articles/${page.slug}</code></dd>` +
    (page.closure
      ? `<dt>sources</dt><dd><code>sha256 ${page.closure.slice(0, 16)}...</code></dd>`
      : "") +
    (page.devices.length > 0
      ? `<dt>measured on</dt><dd>${page.devices.map(escapeHtml).join(", ")}</dd>`
      : "") +
    `</dl></section>`
  );
}

/** A whole article page. */
export function articlePage(page: Page, links: Links): string {
  const contents = [
    ...page.headings.filter(({ depth }) => depth === 2),
    { id: "how-to-reproduce", text: "How to reproduce" },
  ]
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join("");
  const changes =
    page.changes.length > 0
      ? `<section aria-labelledby="changes"><h2 id="changes">Changes</h2><ul>${page.changes.map((change) => `<li>${proseHtml(String(change))}</li>`).join("")}</ul></section>`
      : "";
  const body = `<main id="main"><article>
<header class="head">
<p class="kicker">${kindName(page.kind)} \u00b7 <time datetime="${page.date}">${dateWords(page.date)}</time> \u00b7 ${page.minutes} min</p>
<h1>${proseHtml(page.title)}</h1>
<p class="summary">${proseHtml(page.summary)}</p>
${verifyPanel(page)}
</header>
<nav class="toc" aria-label="Contents"><ol>${contents}</ol></nav>
<div class="body">
${page.html}
${reproduce(page)}
${changes}
${page.evidence}
</div>
</article></main>
<footer class="foot"><p>Every number with a mark comes from a record that the code beside this page makes. ${page.hasMaths ? '<span class="maths-choice"></span>' : ""}</p></footer>`;
  return frame(`${typographic(page.title)} \u00b7 Assay`, page.description, links, "article", body);
}

function stateLine(page: Page): string {
  const parts: string[] = [];
  const exact = counts(page).get("exact") ?? 0;
  if (exact > 0) {
    const here = [...page.figures.filter(({ kind }) => kind === "exact"), ...page.tables].filter(
      ({ as }) => as !== "native-only",
    ).length;
    parts.push(
      `<span class="exact nb">${glyph("exact")}${plural(exact, "exact figure")}</span>, ${here === exact ? "all" : here} verified in your browser on a click`,
    );
  }
  const decided = page.claims.filter(({ verdict }) => verdict === "holds" || verdict === "fails");
  if (decided.length > 0) {
    const good = decided.filter(({ verdict }) => verdict === "holds").length;
    parts.push(
      good === decided.length
        ? `${good === 1 ? "its claim holds" : `all ${good} claims hold`}`
        : `${good} of ${decided.length} claims hold`,
    );
  }
  if (page.devices.length > 0) {
    parts.push(
      `<span class="measured nb">${glyph("measured")}measured</span> on ${page.devices.map(escapeHtml).join(", ")}`,
    );
  }
  parts.push(`${page.minutes} min`);
  return parts.join(" \u00b7 ");
}

/** The home page: a table of contents that one wants to read. */
export function homePage(pages: readonly Page[], links: Links): string {
  const sections = sectionsOf(pages)
    .map(({ kind, id, title }) => {
      const entries = pages
        .filter((page) => page.kind === kind)
        .map(
          (page) =>
            `<li class="entry"><div><h3><a href="${page.slug}/index.html">${proseHtml(page.title)}</a></h3>` +
            `<p>${proseHtml(page.summary)}</p><p class="state">${stateLine(page)}</p></div>${page.thumbnail}</li>`,
        )
        .join("");
      return `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><ol class="entries">${entries}</ol></section>`;
    })
    .join("\n");
  const body = `<main id="main">
<header class="head">
<h1>Assay</h1>
<p class="intro">Long reads on numerical computing, and labs that take one claim apart on real data. Every number comes from a program you can run; press <em>Verify</em> on a page, and the same C++ recomputes its exact figures in your browser, down to the last bit.</p>
</header>
${sections || "<p>No page is finished yet.</p>"}
</main>
<footer class="foot"><p>Static pages: nothing is loaded from elsewhere, nothing is counted, nothing is stored.</p></footer>`;
  return frame(
    "Assay: numerical computing, verified",
    "Long reads and labs on numerical computing whose every number can be verified in the browser.",
    links,
    "home",
    body,
  );
}
