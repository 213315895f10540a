// SPDX-License-Identifier: Apache-2.0
// article.md to HTML: Markdown with maths, code, side notes, figures from records and demos; and what is wrong with it.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import katex from "katex";
import rehypeStringify from "rehype-stringify";
import remarkDirective from "remark-directive";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { createCssVariablesTheme, createHighlighter, type Highlighter } from "shiki";
import { unified } from "unified";
import { visit } from "unist-util-visit";
import { parse as parseYaml } from "yaml";

import { chartFigure, claimHtml, inlineFigure, measuredFigure, tableFigure } from "./figures.ts";
import type { Problems } from "./problem.ts";
import type { Article } from "./records.ts";
import { attributes, escapeHtml, nearest, slugOf, typographic } from "./text.ts";

export interface FrontMatter {
  readonly title: string;
  readonly description: string;
  readonly changes?: readonly string[];
}

export interface Rendered {
  readonly front: FrontMatter;
  readonly html: string;
  readonly headings: readonly { depth: number; id: string; text: string }[];
  readonly words: number;
  /** Ids of the figures that the text shows. */
  readonly figures: readonly string[];
  readonly charts: readonly string[];
  readonly claims: readonly string[];
  /** Tags of the demos, without "assay-". */
  readonly demos: readonly string[];
  readonly hasMaths: boolean;
}

// The syntax tree's nodes, as far as this file looks at them.
interface Node {
  type: string;
  name?: string;
  value?: string;
  lang?: string | null;
  depth?: number;
  url?: string;
  alt?: string | null;
  attributes?: Record<string, string | null | undefined> | null;
  children?: Node[];
  position?: { start: { line: number; column: number; offset?: number }; end: { offset?: number } };
  data?: Record<string, unknown>;
}

const rawHtml = (value: string): Node => ({ type: "assayHtml", value });

let highlighter: Promise<Highlighter> | undefined;

/** Code as HTML with classes for colours, by Shiki; languages that it does not know stay plain. */
async function highlight(text: string, language: string): Promise<string> {
  highlighter ??= createHighlighter({
    langs: ["cpp", "ts", "python", "json", "bash"],
    themes: [createCssVariablesTheme({ name: "paper", variablePrefix: "--code-" })],
  });
  const known: Record<string, string> = {
    "c++": "cpp",
    cc: "cpp",
    h: "cpp",
    sh: "bash",
    cu: "cpp",
    py: "python",
  };
  const wanted = known[language] ?? language;
  const shiki = await highlighter;
  const lang = shiki.getLoadedLanguages().includes(wanted) ? wanted : "text";
  return (
    shiki
      // By default a line gets half a second, and on a busy machine loses its colours.
      .codeToHtml(text.replace(/\n$/, ""), { lang, theme: "paper", tokenizeTimeLimit: 0 })
      .replace(/^<pre [^>]*>/, '<pre tabindex="0" class="code">')
  );
}

/** The lines between `// [region name]` and `// [end name]`, with their common indent removed. */
export function region(text: string, name: string): string | undefined {
  const lines = text.split("\n");
  const at = (word: string): number =>
    lines.findIndex((line) => new RegExp(`^\\s*//\\s*\\[${word} ${name}\\]\\s*$`).test(line));
  const [from, to] = [at("region"), at("end")];
  if (from < 0 || to <= from) return undefined;
  const inside = lines
    .slice(from + 1, to)
    .filter((line) => !/^\s*\/\/\s*\[(region|end) \w+\]\s*$/.test(line));
  const indent = Math.min(
    ...inside.filter((line) => line.trim()).map((line) => /^ */.exec(line)![0].length),
  );
  return inside.map((line) => line.slice(indent)).join("\n");
}

const units = [
  "ns",
  "\u00b5s",
  "us",
  "ms",
  "s",
  "sec",
  "seconds?",
  "minutes?",
  "hours?",
  "[KMGT]i?B",
  "[kKMGT]B/s",
  "GiB/s",
  "bytes?",
  "[kMG]?Hz",
  "[MGT]?FLOP/?s",
  "ulps?",
  "W",
  "watts?",
  "%",
  "per ?cent",
  "percent",
  "times (?:as|faster|slower|more|less|larger|smaller)",
  "\u00d7",
  "x (?:faster|slower)",
].join("|");
const quantity = new RegExp(
  `(?<![\\w.-])\\d[\\d,.]*(?:e[-+]?\\d+)?(?:\\s|-|\u00a0)?(?:${units})(?![\\w])`,
  "i",
);

/** Keeps a figure and the punctuation around it on one line; a figure too long for that may break. */
function holdTogether(html: string): string {
  return html.replace(
    /(\()?(<button type="button" class="fig [\s\S]*?<\/button>)([.,;:!?)]+)?/g,
    (whole, open: string | undefined, button: string, close: string | undefined) => {
      const value = /<span class="v">([\s\S]*?)<\/span><svg/.exec(button)?.[1] ?? "";
      if (!open && !close) return whole;
      if (value.replace(/<[^>]+>|&[^;]+;/g, "").length > 24) {
        // A figure of several lines is a box of its own; what follows would stand alone under it.
        return `${open ?? ""}${button.replace("</svg>", `</svg>${close ?? ""}`)}`;
      }
      return `<span class="nb">${open ?? ""}${button}${close ?? ""}</span>`;
    },
  );
}

/**
 * Renders an article.
 * @param text article.md
 * Everything wrong is added to `problems`, with its line.
 */
export async function renderMarkdown(
  text: string,
  file: string,
  article: Article,
  problems: Problems,
): Promise<Rendered> {
  // As directives the references survive the parser, which would take the colon for one.
  const source = text.replace(/\{\{fig:([\w/.-]+)\}\}/g, ":fig[$1]");
  const tree = unified()
    .use(remarkParse)
    .use(remarkFrontmatter)
    .use(remarkGfm)
    .use(remarkMath)
    .use(remarkDirective)
    .parse(source) as unknown as Node;

  const problem = (node: Node, message: string): Node => {
    problems.add(message, file, node.position?.start.line, node.position?.start.column);
    return rawHtml("");
  };
  let front: FrontMatter | undefined;
  const figures: string[] = [];
  const charts: string[] = [];
  const claims: string[] = [];
  const demos: string[] = [];
  const headings: { depth: number; id: string; text: string }[] = [];
  let notes = 0;
  // The last character seen, by which quotation marks know which way to turn.
  let before = "";
  let words = 0;
  let hasMaths = false;

  const textOf = (node: Node): string =>
    node.type === "textDirective" && node.name === "fig"
      ? ""
      : (node.value ?? "") + (node.children ?? []).map(textOf).join("");

  const unknown = (what: string, id: string, known: Iterable<string>): string => {
    const close = nearest(id, known);
    return `there is no ${what} "${id}"${close ? `; the nearest is "${close}"` : ", and no other either"}`;
  };

  const formula = (node: Node, display: boolean): Node => {
    hasMaths = true;
    try {
      const html = katex.renderToString(node.value ?? "", {
        displayMode: display,
        output: "htmlAndMathml",
        throwOnError: true,
        strict: "error",
        trust: false,
      });
      return rawHtml(
        display
          ? `<div class="formula" tabindex="0" role="group" aria-label="Formula">${html}</div>`
          : html,
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return problem(node, `the formula does not parse: ${message}`);
    }
  };

  const demo = (node: Node): Node => {
    const given = { ...node.attributes } as Record<string, string>;
    const name = given["name"] ?? article.slug;
    const chartId = given["chart"];
    delete given["name"];
    delete given["chart"];
    if (!/^[a-z][a-z0-9-]*$/.test(name))
      return problem(node, `a demo is named like a tag, not "${name}"`);
    demos.push(name);
    let still = "";
    const chart = chartId === undefined ? undefined : article.charts.get(chartId);
    if (chartId === undefined) {
      return problem(node, "a demo needs a first frame: chart=... names a chart of lab.json");
    } else if (!chart) {
      return problem(node, unknown("chart", chartId, article.charts.keys()));
    } else {
      const frame = chartHtml(node, chart.id);
      if (frame === undefined) return rawHtml("");
      still = frame;
    }
    return rawHtml(
      `<assay-${name} class="demo"${attributes(given)} data-bytes="@@bytes@@">${still}</assay-${name}>`,
    );
  };

  const chartHtml = (node: Node, id: string): string | undefined => {
    const chart = article.charts.get(id);
    if (!chart) {
      problem(node, unknown("chart", id, article.charts.keys()));
      return undefined;
    }
    const table = article.tables.get(chart.table);
    if (!table) {
      problem(node, unknown("table", chart.table, article.tables.keys()));
      return undefined;
    }
    if (charts.includes(id)) {
      problem(node, `the chart "${id}" is on the page twice`);
      return undefined;
    }
    charts.push(id);
    try {
      return chartFigure(chart, table, article);
    } catch (error) {
      problem(node, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };

  const leaf = async (node: Node): Promise<Node> => {
    const id = node.attributes?.["id"] ?? "";
    switch (node.name) {
      case "chart":
        return rawHtml(chartHtml(node, id) ?? "");
      case "table": {
        const table = article.tables.get(id);
        if (!table) return problem(node, unknown("table", id, article.tables.keys()));
        return rawHtml(tableFigure(table, article));
      }
      case "measured": {
        const group = article.groups.find((one) => one.id === id);
        if (!group) {
          return problem(
            node,
            unknown(
              "measured group",
              id,
              article.groups.map((one) => one.id),
            ),
          );
        }
        return rawHtml(measuredFigure(group));
      }
      case "claim": {
        const claim = article.claims.get(id);
        if (!claim) return problem(node, unknown("claim", id, article.claims.keys()));
        if (claims.includes(id)) return problem(node, `the claim "${id}" is on the page twice`);
        claims.push(id);
        return rawHtml(claimHtml(claim));
      }
      case "demo":
        return demo(node);
      case "code": {
        const name = node.attributes?.["file"] ?? "";
        const wanted = node.attributes?.["region"] ?? "";
        if (!/^[\w.-]+$/.test(name))
          return problem(node, `code: file "${name}" is not a file of this folder`);
        let content;
        try {
          content = readFileSync(join(article.folder, name), "utf8");
        } catch {
          return problem(node, `code: ${name} cannot be read`);
        }
        const part = region(content, wanted);
        if (part === undefined) {
          const known = [...content.matchAll(/\/\/\s*\[region (\w+)\]/g)].map((m) => m[1]!);
          return problem(node, unknown(`region in ${name}`, wanted, known));
        }
        const html = await highlight(part, name.split(".").at(-1)!);
        return rawHtml(
          `<figure class="listing" aria-label="${escapeHtml(name)}, ${escapeHtml(wanted)}">${html}<figcaption><code>web/articles/${article.slug}/${escapeHtml(name)}</code></figcaption></figure>`,
        );
      }
      default:
        return problem(
          node,
          unknown("directive", node.name ?? "", [
            "chart",
            "table",
            "claim",
            "demo",
            "code",
            "measured",
          ]),
        );
    }
  };

  const textDirective = (node: Node): Node[] => {
    if (node.name === "fig") {
      const wanted = textOf({ ...node, type: "x" });
      const id = wanted.startsWith(`${article.slug}/`)
        ? wanted.slice(article.slug.length + 1)
        : wanted;
      const figure = article.figures.get(id);
      if (!figure) return [problem(node, unknown("figure", wanted, article.figures.keys()))];
      figures.push(id);
      before = "0";
      return [rawHtml(inlineFigure(figure))];
    }
    if (node.name === "note") {
      const number = ++notes;
      const open = rawHtml(
        `<button type="button" class="note-mark" popovertarget="n-${number}" aria-label="Note ${number}">${number}</button><span class="note" id="n-${number}" popover role="note"><span class="note-number" aria-hidden="true">${number}</span> `,
      );
      return [open, ...transformAll(node.children ?? []), rawHtml("</span>")];
    }
    // A number that is given, not found: 440 Hz that the reader is told to imagine.
    if (node.name === "given") return transformAll(node.children ?? []);
    // Anything else was only a colon before a word.
    const from = node.position?.start.offset;
    const to = node.position?.end.offset;
    return [{ type: "text", value: from === undefined ? `:${node.name}` : source.slice(from, to) }];
  };

  /** A short formula and the punctuation after it stay on one line, as a figure and its punctuation do. */
  const transformAll = (children: Node[]): Node[] =>
    children.flatMap((child, i) => {
      const next = children[i + 1];
      const close =
        child.type === "inlineMath" && (child.value ?? "").length < 32 && next?.type === "text"
          ? /^[.,;:!?)\u2019']+/.exec(next.value ?? "")?.[0]
          : undefined;
      if (!close || !next) return transform(child);
      next.value = next.value!.slice(close.length);
      const set = transform(child);
      before = close.slice(-1);
      return [
        rawHtml('<span class="nb">'),
        ...set,
        rawHtml(`${escapeHtml(typographic(close, "x"))}</span>`),
      ];
    });

  const transform = (node: Node): Node[] => {
    switch (node.type) {
      case "yaml": {
        try {
          front = parseYaml(node.value ?? "") as FrontMatter;
        } catch (error) {
          problem(node, error instanceof Error ? error.message : String(error));
        }
        return [];
      }
      case "html":
        if (/^<!--/.test(node.value ?? "")) return [];
        return [problem(node, "HTML is not used in articles")];
      case "inlineMath":
        before = "x";
        return [formula(node, false)];
      case "math":
        return [formula(node, true)];
      case "textDirective":
        return textDirective(node);
      case "containerDirective":
        return [
          problem(
            node,
            `":::${node.name}" is not known here; directives have two colons and a line of their own`,
          ),
        ];
      case "image":
        return [problem(node, "pictures come from records: ::chart{id=...}")];
      case "table":
        return [
          rawHtml('<div class="scroll" tabindex="0" role="group" aria-label="Table">'),
          { ...node, children: (node.children ?? []).map((child) => transform(child)).flat() },
          rawHtml("</div>"),
        ];
      case "text": {
        const value = node.value ?? "";
        words += value.split(/\s+/).filter((word) => /\w/.test(word)).length;
        const found = quantity.exec(value);
        if (found) {
          problem(
            node,
            `"${found[0]}" is a number with a unit that comes from no record; use {{fig:...}}, or :given[${found[0]}] for one that the text stipulates`,
          );
        }
        const set = typographic(value, before);
        before = value.slice(-1) || before;
        return [{ ...node, value: set }];
      }
      case "inlineCode":
        before = "x";
        return [node];
      case "paragraph":
      case "listItem":
      case "tableCell":
        before = "";
        return [{ ...node, children: transformAll(node.children ?? []) }];
      case "heading": {
        before = "";
        const title = textOf(node);
        let id = slugOf(title);
        for (let i = 2; headings.some((other) => other.id === id); i++)
          id = `${slugOf(title)}-${i}`;
        const depth = node.depth ?? 1;
        const previous = headings.at(-1)?.depth ?? 1;
        if (depth === 1) problem(node, "the page's title is its only first-level heading; use ##");
        else if (depth > previous + 1)
          problem(node, `heading of level ${depth} after level ${previous}`);
        headings.push({ depth, id, text: typographic(title) });
        return [
          { ...node, data: { hProperties: { id } }, children: transformAll(node.children ?? []) },
        ];
      }
      default:
        return [node.children ? { ...node, children: transformAll(node.children) } : node];
    }
  };

  // A given number is no finding: its text is not looked at.
  const given: Node[] = [];
  visit(tree as never, (found: unknown) => {
    const node = found as Node;
    if (node.type === "textDirective" && node.name === "given") given.push(node);
  });
  for (const node of given) {
    visit(node as never, "text", (found: unknown) => {
      const inner = found as Node;
      inner.type = "assayHtml";
      inner.value = escapeHtml(inner.value ?? "");
    });
  }
  const resolved: Node[] = [];
  for (const child of tree.children ?? []) {
    if (child.type === "leafDirective") {
      resolved.push(await leaf(child));
    } else if (child.type === "code") {
      const html = await highlight(child.value ?? "", child.lang ?? "text");
      resolved.push(rawHtml(`<div class="listing">${html}</div>`));
    } else {
      resolved.push(...transform(child));
    }
  }
  visit({ type: "root", children: resolved } as never, "leafDirective", (found: unknown) => {
    const node = found as Node;
    problem(node, `::${node.name} stands inside a list or quotation; give it a place of its own`);
  });

  const processor = unified()
    .use(remarkRehype, {
      allowDangerousHtml: true,
      clobberPrefix: "",
      handlers: {
        assayHtml: (_state: unknown, node: Node) => ({ type: "raw", value: node.value ?? "" }),
      } as never,
    })
    .use(rehypeStringify, { allowDangerousHtml: true, closeSelfClosing: true });
  const hast = await processor.run({ type: "root", children: resolved } as never);
  const html = holdTogether(processor.stringify(hast as never));

  if (!front?.title || !front.description) {
    problems.add("front matter with title and description is missing", file, 1);
  }
  for (const [id] of article.claims) {
    if (!claims.includes(id))
      problems.add(`the claim "${id}" is not on the page: ::claim{id=${id}}`, file);
  }
  return {
    front: front ?? { title: article.slug, description: "" },
    html,
    headings,
    words,
    figures,
    charts,
    claims,
    demos,
    hasMaths,
  };
}
