// SPDX-License-Identifier: Apache-2.0
// The base class of every demo. README.md beside this file shows a complete small one.
//
// States, kept in the attribute `state`:
//   static       before a click: the figure inside the tag is shown, with a button
//   loading      wasm and data are on their way
//   ready        loaded, at step 0 of a timeline
//   running      computing, or playing the timeline
//   paused       in the middle of the timeline; also after Stop, off screen and in a hidden tab
//   done         the result stands, or the timeline is at its end
//   failed       said in words; a changed control or "Try again" goes on
//   unsupported  this browser cannot: the figure stays, with one sentence
//
// Events (bubbling, composed): `demo-state` with {state}, `demo-result` with {figure, hash, words}.
//
// A subclass gives `params`, `slug`, `heading`, `compute()` and `view()`; if it unfolds in steps also `step(k)`.
// It never touches state, links, workers' lives or timers: those are here.

import {
  html,
  LitElement,
  nothing,
  type CSSResultGroup,
  type PropertyValues,
  type TemplateResult,
} from "lit";

import type { NumericArray } from "../runtime/instance.ts";
import { fetchData, loadManifest, siteRoot, sizeInWords } from "../runtime/manifest.ts";
import { Module, StoppedError } from "../runtime/pool.ts";
import { sha256 } from "../runtime/sha256.ts";
import { integerField } from "./controls.ts";
import {
  clamp,
  initialValues,
  type Params,
  readHash,
  readTexts,
  stateText,
  type Values,
  writeHash,
} from "./params.ts";
import { demoStyles } from "./styles.ts";

export type DemoState =
  "static" | "loading" | "ready" | "running" | "paused" | "done" | "failed" | "unsupported";

/** What one computation came to. */
export interface Outcome {
  /** The result in words, for everybody: "The peak is at 440 Hz." Numbers with stated digits. */
  readonly words: string;
  /** Arrays whose bits are the result; their SHA-256 is the `hash` of `demo-result`. */
  readonly bits?: readonly NumericArray[];
  /** Steps of the timeline: it runs from 0 to this. 0 or missing: no timeline. */
  readonly steps?: number;
}

/** Declares parameters with their literal types. */
export const defineParams = <const S extends Params>(params: S): S => params;

/** Registers a demo's tag; a second registration of the same tag is ignored. */
export function defineDemo(tag: `assay-${string}`, demo: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, demo);
}

const reducedMotion = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

/** Set once the reader has started any demo of this page: others then load when they come near. */
let used = false;
const usedEvent = "assay-demo-used";

export abstract class Demo<S extends Params> extends LitElement {
  /** The article's slug: the module is "<slug>/demo", data "<slug>/<name>". */
  static readonly slug: string = "";
  /** What the demo is called, in a few words. */
  static readonly heading: string = "";
  /** One sentence: what to do and what to look for. */
  static readonly hint: string = "";
  static readonly params: Params = {};
  /** Timeline steps a second while playing. */
  static readonly rate: number = 12;
  /** Play the timeline as soon as it is loaded (never with reduced motion). */
  static readonly playOnLoad: boolean = false;

  static override styles: CSSResultGroup = demoStyles;

  static override properties = { state: { type: String, reflect: true } };

  static override get observedAttributes(): string[] {
    return [...super.observedAttributes, ...Object.keys(this.params)];
  }

  declare state: DemoState;
  /** Parameters as they stand; change them with `set`. */
  values: Values<S>;
  /** Position on the timeline, 0 to `steps`. */
  k = 0;
  steps = 0;
  /**
   * Width of the picture in CSS pixels, 280 to 800. A picture whose viewBox is this wide is as sharp on a phone as on a
   * desktop; text of one with a fixed viewBox is enlarged instead.
   */
  width = 640;
  /** SHA-256 of the last outcome's bits, or "" */
  hash = "";

  #start: Values<S>;
  #notes: string[] = [];
  #spoken = "";
  #spokenAt = -1000;
  #speaking: ReturnType<typeof setTimeout> | undefined;
  #loadDone = 0;
  #module: Module | undefined;
  #computing: Promise<void> | undefined;
  #again = false;
  #playing = false;
  #heldPlaying = false;
  #generation = 0;
  #sizes: ResizeObserver | undefined;
  #onScreen = true;
  #observer: IntersectionObserver | undefined;
  #near: IntersectionObserver | undefined;

  constructor() {
    super();
    this.values = initialValues(this.params);
    this.#start = { ...this.values };
    this.state = "static";
  }

  // ---------------------------------------------------------------- what a subclass gives

  /**
   * Runs after the module is open, and again whenever its worker had to be replaced: keep tables in its memory here.
   */
  protected prepare(_module: Module): Promise<void> {
    return Promise.resolve();
  }

  /** Computes everything for the parameters as they stand. Called after loading and after each change, one at a time. */
  protected abstract compute(module: Module): Promise<Outcome>;

  /** Called before the timeline shows step k, for demos that compute as they go. */
  protected step(_k: number, _module: Module): Promise<void> {
    return Promise.resolve();
  }

  /** What step k shows, in words. */
  protected stepWords(k: number): string {
    return `Step ${k} of ${this.steps}.`;
  }

  /** The picture with its controls. Called once the first `compute` is through, and at every change. */
  protected abstract view(): TemplateResult;

  // ---------------------------------------------------------------- what a subclass uses

  protected get params(): S {
    return (this.constructor as typeof Demo).params as S;
  }

  get #about(): typeof Demo {
    return this.constructor as typeof Demo;
  }

  /** "fft" for <assay-fft>; the element's id where a page holds two of a kind. */
  get demoName(): string {
    return this.id || this.localName.replace(/^assay-/, "");
  }

  /** Changes parameters: clamps them, writes the link, computes again. */
  set(change: Partial<Values<S>>): void {
    const notes: string[] = [];
    const values: Record<string, unknown> = { ...this.values };
    for (const [name, wanted] of Object.entries(change)) {
      const param = this.params[name];
      const value = param && clamp(param, wanted);
      if (value === undefined)
        notes.push(`${param?.label ?? name}: that value makes no sense here.`);
      else values[name] = value;
    }
    this.values = values as Values<S>;
    this.#notes = notes;
    this.#writeLink();
    this.#playing = false;
    this.#recompute();
  }

  /** The article's data file `name`, with progress, checked against the manifest. */
  protected async data(name: string): Promise<Uint8Array> {
    const { data } = await loadManifest();
    const key = `${this.#about.slug}/${name}`;
    const asset = data[key];
    if (!asset) throw new Error(`the built site has no data ${key}`);
    const url = new URL(asset.path, siteRoot).href;
    return fetchData(url, asset.sha256, (done) => this.#showLoading(done / asset.bytes));
  }

  // ---------------------------------------------------------------- life

  override connectedCallback(): void {
    super.connectedCallback();
    this.#readState();
    document.addEventListener("visibilitychange", this.#visibility);
    window.addEventListener("hashchange", this.#hashChanged);
    this.#observer = new IntersectionObserver(([entry]) => {
      this.#onScreen = entry?.isIntersecting ?? true;
      this.#visibility();
    });
    this.#observer.observe(this);
    this.#sizes = new ResizeObserver(() => {
      const width = Math.min(800, Math.max(280, Math.floor(this.clientWidth)));
      if (width === this.width) return;
      this.width = width;
      this.requestUpdate();
    });
    this.#sizes.observe(this);
    // Near, and the reader has used a demo here: fetch without a further click.
    this.#near = new IntersectionObserver(
      ([entry]) => {
        if (used && entry?.isIntersecting && this.state === "static") void this.load();
      },
      { rootMargin: "25%" },
    );
    if (used) this.#near.observe(this);
    else document.addEventListener(usedEvent, this.#watchNear, { once: true });
    if (typeof WebAssembly !== "object") this.#become("unsupported");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("visibilitychange", this.#visibility);
    document.removeEventListener(usedEvent, this.#watchNear);
    window.removeEventListener("hashchange", this.#hashChanged);
    this.#observer?.disconnect();
    this.#sizes?.disconnect();
    this.#near?.disconnect();
    clearTimeout(this.#speaking);
    this.#supersede();
    this.#playing = false;
    this.#module?.close();
    this.#module = undefined;
    this.k = this.steps = 0;
    if (this.state !== "unsupported") this.state = "static";
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    super.attributeChangedCallback(name, old, value);
    if (!Object.hasOwn(this.params, name) || value === null || old === value || !this.isConnected)
      return;
    const read = readTexts(this.params, this.values, { [name]: value });
    this.values = read.values;
    this.#notes = read.notes;
    this.#start = { ...this.values };
    this.#recompute();
  }

  readonly #watchNear = (): void => this.#near?.observe(this);

  readonly #visibility = (): void => {
    const hold = document.hidden || !this.#onScreen;
    if (hold && this.#playing) {
      this.#heldPlaying = true;
      this.pause();
    } else if (!hold && this.#heldPlaying) {
      this.#heldPlaying = false;
      if (this.state === "paused") this.play();
    }
  };

  readonly #hashChanged = (): void => {
    const parts = location.hash.replace(/^#/, "").split("&");
    const part = parts.find((text) => text.startsWith(`${this.demoName}=`));
    // Nothing about this demo, or the very state that it shows.
    if (!part || part === `${this.demoName}=${stateText(this.params, this.values)}`) return;
    this.#readState();
    this.#recompute();
  };

  #readState(): void {
    const attributes: Record<string, string> = {};
    for (const name of Object.keys(this.params)) {
      const text = this.getAttribute(name);
      if (text !== null) attributes[name] = text;
    }
    const base = readTexts(this.params, initialValues(this.params), attributes);
    const linked = readTexts(
      this.params,
      base.values,
      readHash(location.hash, this.demoName) ?? {},
    );
    this.values = linked.values;
    this.#start = { ...linked.values };
    this.#notes = [...base.notes, ...linked.notes];
  }

  #writeLink(): void {
    const hash = writeHash(location.hash, this.demoName, stateText(this.params, this.values));
    history.replaceState(history.state, "", hash);
  }

  #become(state: DemoState): void {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(
      new CustomEvent("demo-state", { detail: { state }, bubbles: true, composed: true }),
    );
  }

  #say(words: string): void {
    const wait = this.#spokenAt + 1000 - performance.now();
    clearTimeout(this.#speaking);
    if (wait > 0) {
      this.#speaking = setTimeout(() => this.#say(words), wait);
      return;
    }
    this.#spokenAt = performance.now();
    this.#spoken = words;
    this.requestUpdate();
  }

  #showLoading(fraction: number): void {
    this.#loadDone = fraction;
    this.requestUpdate();
  }

  /** What "Run" does: loads, computes, shows. Also for pages and tests. */
  async load(): Promise<void> {
    if (this.state !== "static" && this.state !== "failed") return;
    const hadFocus = this.shadowRoot?.activeElement != null;
    if (!used) {
      used = true;
      document.dispatchEvent(new Event(usedEvent));
    }
    this.#loadDone = 0;
    this.#become("loading");
    const generation = this.#supersede();
    this.#module ??= new Module(
      `${this.#about.slug}/demo`,
      (module) => this.prepare(module),
      (done, total) => total > 0 && this.#showLoading(done / total),
    );
    try {
      await this.#module.open();
      if (generation !== this.#generation) return;
      await this.#recompute();
      if (generation !== this.#generation) return;
      if (hadFocus) await this.#focusFirst();
      if (this.#about.playOnLoad && this.steps > 0 && !reducedMotion?.matches) this.play();
    } catch (error) {
      if (generation === this.#generation) this.#fail(error);
    }
  }

  /** Begins a new generation: what is still under way belongs to the old one, and nobody waits for it any more. */
  #supersede(): number {
    this.#computing = undefined;
    this.#again = false;
    return ++this.#generation;
  }

  async #focusFirst(): Promise<void> {
    await this.updateComplete;
    if (this.shadowRoot?.activeElement) return;
    this.shadowRoot?.querySelector<HTMLElement>("button, input, select, [tabindex]")?.focus();
  }

  #fail(error: unknown): void {
    this.#playing = false;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof StoppedError && !/without a result/.test(message)) {
      this.#become("paused");
      this.#say("Stopped. Change a control or press Reset to go on.");
    } else {
      this.#become("failed");
      this.#say(`It did not work out: ${message}`);
    }
    this.requestUpdate();
  }

  /** One computation at a time; changes that come meanwhile lead to one more. */
  #recompute(): Promise<void> {
    const module = this.#module;
    if (!module || ["static", "unsupported"].includes(this.state)) return Promise.resolve();
    this.requestUpdate();
    this.#again = true;
    const generation = this.#generation;
    this.#computing ??= (async () => {
      try {
        while (this.#again && generation === this.#generation) {
          this.#again = false;
          if (this.state !== "loading") this.#become("running");
          const outcome = await this.compute(module);
          const hash = outcome.bits ? await hashOf(outcome.bits) : "";
          if (generation !== this.#generation) return;
          if (this.#again) continue;
          this.hash = hash;
          this.steps = outcome.steps ?? 0;
          this.k = 0;
          if (this.steps > 0) await this.step(0, module);
          if (generation !== this.#generation) return;
          this.#become(this.steps > 0 ? "ready" : "done");
          this.#say(outcome.words);
          this.requestUpdate();
          const detail = {
            figure: this.getAttribute("src-figure") ?? "",
            hash,
            words: outcome.words,
          };
          this.dispatchEvent(
            new CustomEvent("demo-result", { detail, bubbles: true, composed: true }),
          );
        }
      } catch (error) {
        if (generation === this.#generation) this.#fail(error);
      } finally {
        if (generation === this.#generation) this.#computing = undefined;
      }
    })();
    return this.#computing;
  }

  // ---------------------------------------------------------------- what the buttons do

  /** Plays the timeline to its end; with reduced motion, takes one step. */
  play(): void {
    if (this.steps === 0 || this.#computing) return;
    if (reducedMotion?.matches) {
      void this.goTo(this.k + 1);
      return;
    }
    if (this.k >= this.steps) this.k = 0;
    this.#playing = true;
    this.#become("running");
    const generation = this.#generation;
    let last = performance.now();
    const frame = async (now: number): Promise<void> => {
      if (!this.#playing || generation !== this.#generation) return;
      const due = Math.floor(((now - last) * this.#about.rate) / 1000);
      if (due >= 1) {
        last = now;
        // A slow frame is not made up for: the reader is to see every step.
        await this.goTo(this.k + 1);
      }
      if (this.#playing) requestAnimationFrame((time) => void frame(time));
    };
    requestAnimationFrame((time) => void frame(time));
    this.requestUpdate();
  }

  pause(): void {
    this.#playing = false;
    if (this.state === "running" && !this.#computing) this.#become("paused");
    this.requestUpdate();
  }

  /** Shows step k of the timeline, 0 to `steps`. */
  async goTo(k: number): Promise<void> {
    const module = this.#module;
    if (!module || this.steps === 0) return;
    const to = Math.max(0, Math.min(this.steps, k));
    const generation = this.#generation;
    try {
      await this.step(to, module);
    } catch (error) {
      if (generation === this.#generation) this.#fail(error);
      return;
    }
    if (generation !== this.#generation) return;
    this.k = to;
    if (to === this.steps) this.#playing = false;
    this.#become(
      this.#playing ? "running" : to === 0 ? "ready" : to === this.steps ? "done" : "paused",
    );
    this.#say(this.stepWords(to));
    this.requestUpdate();
  }

  /** Ends whatever runs, at once. */
  stop(): void {
    this.#heldPlaying = false;
    if (this.#playing) {
      this.pause();
      this.#say(`Stopped at step ${this.k} of ${this.steps}.`);
    }
    if (this.state === "loading") {
      this.#supersede();
      this.#module?.close();
      this.#module = undefined;
      this.#become("static");
      return;
    }
    this.#again = false;
    this.#module?.stop();
  }

  /** Back to the parameters of the link (or of the tag): the same hash as at the start. */
  reset(): void {
    this.#playing = this.#heldPlaying = false;
    this.values = { ...this.#start };
    this.#notes = [];
    this.#writeLink();
    void this.#recompute();
  }

  newSeed(): void {
    const seed = this.params["seed"];
    if (seed?.kind !== "integer") return;
    const draw = crypto.getRandomValues(new Uint32Array(1))[0]!;
    this.set({ seed: seed.min + (draw % (seed.max - seed.min + 1)) } as Partial<Values<S>>);
  }

  async #copyLink(): Promise<void> {
    this.#writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      this.#say("The link is copied; it holds every setting.");
    } catch {
      this.#say(`The link is in the address bar: ${location.href}`);
    }
  }

  readonly #keys = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      this.stop();
      event.stopPropagation();
    }
  };

  // ---------------------------------------------------------------- the frame around the picture

  override render(): TemplateResult {
    const before = this.state === "static" || this.state === "unsupported";
    const loadingFirst = this.state === "loading" || (this.state === "failed" && !this.#hasView);
    if (!before && !loadingFirst) this.#hasView = true;
    else if (before) this.#hasView = false;
    return html`<div @keydown=${this.#keys} role="group" aria-label=${this.#about.heading}>
      <div class="top">
        <h3 class="title">${this.#about.heading}</h3>
        <p class="soft">${this.#about.hint}</p>
      </div>
      ${this.#hasView ? html`<div class="stage">${this.view()}</div>` : html`<slot></slot>`}
      ${this.#hasView ? this.#bar() : this.#startBar()}
      ${this.#notes.map((note) => html`<p class="note">${note}</p>`)}
      <output aria-live="polite" class=${this.state === "failed" ? "bad" : ""}
        >${this.#spoken}</output
      >
    </div>`;
  }

  #hasView = false;

  protected override updated(_changed: PropertyValues): void {
    for (const picture of this.renderRoot.querySelectorAll<SVGSVGElement>(".stage svg[viewBox]")) {
      const shown = picture.clientWidth;
      if (shown === 0) continue;
      const scale = Math.max(1, picture.viewBox.baseVal.width / shown);
      picture.style.setProperty("--_u", scale.toFixed(2));
    }
  }

  #startBar(): TemplateResult {
    const bytes = Number(this.getAttribute("data-bytes") ?? 0);
    const size = bytes > 0 ? ` (${sizeInWords(bytes)})` : "";
    if (this.state === "unsupported") {
      return html`<p class="note">
        This browser runs no WebAssembly, so the demo stays a picture; everything else on the page
        works.
      </p>`;
    }
    if (this.state === "loading") {
      return html`<div class="bar">
        <button @click=${this.stop}>Stop</button>
        <progress max="1" .value=${this.#loadDone} aria-label="Loading"></progress>
        <span class="soft">Loading${size}</span>
      </div>`;
    }
    return html`<div class="bar">
      <button class="main" @click=${this.load}>
        ${this.state === "failed" ? "Try again" : `Run it here${size}`}
      </button>
    </div>`;
  }

  #bar(): TemplateResult {
    const still = reducedMotion?.matches ?? false;
    const busy = this.#playing || this.state === "running";
    const timeline =
      this.steps === 0
        ? nothing
        : html`${
              still
                ? nothing
                : html`<button class="main" @click=${this.#playing ? this.pause : this.play}>
                    ${this.#playing ? "Pause" : "Play"}
                  </button>`
            }
            <button @click=${() => this.goTo(this.k - 1)} aria-disabled=${this.k === 0}>
              Back
            </button>
            <button @click=${() => this.goTo(this.k + 1)} aria-disabled=${this.k === this.steps}>
              Step
            </button>
            <input
              type="range"
              aria-label="Step"
              aria-valuetext="step ${this.k} of ${this.steps}"
              min="0"
              max=${this.steps}
              .value=${String(this.k)}
              @input=${(event: Event) => {
                this.#playing = false;
                void this.goTo(Number((event.target as HTMLInputElement).value));
              }}
            />
            <span class="soft">step ${this.k} of ${this.steps}</span>`;
    return html`<div class="bar">
      ${timeline}
      <button @click=${this.stop} aria-disabled=${!busy}>Stop</button>
      <button @click=${this.reset}>Reset</button>
      ${
        "seed" in this.params
          ? html`${integerField(this, "seed")}<button @click=${this.newSeed}>New seed</button>`
          : nothing
      }
      <button class="plain" @click=${this.#copyLink}>Copy link</button>
      ${
        this.state === "failed"
          ? html`<button class="main" @click=${this.#recompute}>Try again</button>`
          : nothing
      }
    </div>`;
  }
}

/** SHA-256 over the little-endian bytes of arrays, one after another; a NaN counts by its own bits. */
export async function hashOf(arrays: readonly NumericArray[]): Promise<string> {
  const bytes = new Uint8Array(arrays.reduce((sum, array) => sum + array.byteLength, 0));
  let at = 0;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  return sha256(bytes);
}
