// SPDX-License-Identifier: Apache-2.0
// What every demo looks like. Colours come from the page's custom properties; on a foreign page, from the defaults
// here, which follow that page's own color-scheme.

import { css } from "lit";

export const demoStyles = css`
  :host {
    --_paper: var(--paper, light-dark(#fbfaf7, #14181d));
    --_ink: var(--ink, light-dark(#1d1d1b, #e5e3dc));
    --_soft: var(--ink-soft, light-dark(#5b5952, #a7a9a7));
    --_rule: var(--rule, light-dark(#dedad0, #2f363e));
    --_wash: var(--wash, light-dark(#f3f1ea, #1b2127));
    --_accent: var(--accent, light-dark(#0b6a68, #5fc6be));
    --_bad: var(--bad, light-dark(#a3261c, #ff9a8c));
    --series-1: light-dark(#0a6794, #6cbdea);
    --series-2: light-dark(#b4480c, #f4a063);
    --series-3: light-dark(#0a7550, #5fcb9d);
    --series-4: light-dark(#a2447c, #eaa2ca);
    --series-5: light-dark(#756000, #d8c14c);
    --_sans: var(--sans, "IBM Plex Sans", system-ui, sans-serif);
    --_mono: var(--mono, "IBM Plex Mono", ui-monospace, monospace);
    display: block;
    color: var(--_ink);
    font: 400 0.9375rem/1.45 var(--_sans);
    font-variant-numeric: tabular-nums;
    text-align: left;
  }
  :host([hidden]) {
    display: none;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  .top {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 16px;
    margin: 0 0 8px;
  }
  .top h3,
  .top p {
    margin: 0;
  }
  .title {
    font-size: 1rem;
    font-weight: 600;
  }
  .stage {
    position: relative;
  }
  .stage svg {
    display: block;
    width: 100%;
    height: auto;
    overflow: visible;
  }
  .bar,
  .controls {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    margin: 12px 0 0;
  }
  .controls {
    align-items: end;
    gap: 12px 24px;
  }
  button,
  select,
  input {
    font: inherit;
    color: inherit;
  }
  button {
    min-height: 36px;
    padding: 4px 12px;
    border: 1px solid var(--_rule);
    border-radius: 4px;
    background: var(--_paper);
    cursor: pointer;
  }
  button:hover {
    border-color: var(--_accent);
    color: var(--_accent);
  }
  button[aria-pressed="true"] {
    border-color: var(--_accent);
    background: var(--_wash);
    color: var(--_accent);
  }
  button.main {
    border-color: var(--_accent);
    background: var(--_accent);
    color: var(--_paper);
    font-weight: 600;
  }
  button.main:hover {
    background: var(--_paper);
    color: var(--_accent);
  }
  button:disabled {
    cursor: default;
    color: var(--_soft);
    border-color: var(--_rule);
  }
  button.plain {
    border-color: transparent;
    background: none;
    padding: 4px 6px;
    color: var(--_accent);
  }
  button.plain:hover {
    text-decoration: underline;
  }
  :focus-visible {
    outline: 2px solid var(--_accent);
    outline-offset: 2px;
  }
  label,
  .label {
    display: block;
    color: var(--_soft);
    font-size: 0.8125rem;
  }
  .field {
    display: flex;
    flex-direction: column;
    gap: 2px;
    min-width: 0;
  }
  .field > div {
    display: flex;
    align-items: center;
    gap: 8px;
  }
  .inline {
    display: inline-flex;
    align-items: center;
    gap: 8px;
  }
  .field.check {
    min-height: 36px;
    justify-content: center;
  }
  .field.check label {
    display: flex;
    gap: 8px;
    align-items: center;
    min-height: 24px;
    color: inherit;
    font-size: inherit;
  }
  input[type="range"] {
    width: 160px;
    min-height: 24px;
    margin: 0;
    accent-color: var(--_accent);
  }
  input[type="checkbox"] {
    width: 18px;
    height: 18px;
    margin: 3px;
    accent-color: var(--_accent);
  }
  input[type="number"],
  input[type="text"],
  select {
    min-height: 32px;
    padding: 2px 8px;
    border: 1px solid var(--_rule);
    border-radius: 4px;
    background: var(--_paper);
    font-family: var(--_mono);
    font-size: 0.875rem;
  }
  input[type="number"] {
    width: 7.5em;
  }
  select {
    font-family: inherit;
  }
  output,
  .note {
    display: block;
    margin: 12px 0 0;
    min-height: 1.45em;
  }
  .note,
  .soft {
    color: var(--_soft);
  }
  .bad {
    color: var(--_bad);
  }
  .mono,
  code {
    font-family: var(--_mono);
    font-size: 0.9em;
  }
  progress {
    width: 160px;
    height: 8px;
    accent-color: var(--_accent);
  }
  table {
    border-collapse: collapse;
    font-size: 0.875rem;
  }
  th,
  td {
    padding: 4px 12px 4px 0;
    border-bottom: 1px solid var(--_rule);
    text-align: left;
    font-weight: 400;
  }
  th {
    color: var(--_soft);
  }
  td.n,
  th.n {
    text-align: right;
  }
  .scroll {
    overflow-x: auto;
  }
  .hide {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  /* Pictures made with plot.ts */
  svg text {
    fill: var(--_ink);
    font: 400 calc(13px * var(--_u, 1)) var(--_sans);
    font-variant-numeric: tabular-nums;
  }
  svg .axis line,
  svg .axis path,
  svg .grid line {
    stroke: var(--_rule);
    stroke-width: 1;
    fill: none;
  }
  svg .axis text {
    fill: var(--_soft);
    font-size: calc(12px * var(--_u, 1));
  }
  svg .line {
    fill: none;
    stroke-width: 2;
    stroke-linejoin: round;
  }
  svg .s1 {
    --s: var(--series-1);
  }
  svg .s2 {
    --s: var(--series-2);
  }
  svg .s3 {
    --s: var(--series-3);
  }
  svg .s4 {
    --s: var(--series-4);
  }
  svg .s5 {
    --s: var(--series-5);
  }
  svg .line,
  svg .stem {
    stroke: var(--s, var(--_ink));
  }
  svg .s2.line {
    stroke-dasharray: 6 3;
  }
  svg .s3.line {
    stroke-dasharray: 2 3;
  }
  svg .dot,
  svg .area,
  svg text.label {
    fill: var(--s, var(--_ink));
  }
  svg .handle {
    fill: var(--_paper);
    stroke: var(--_accent);
    stroke-width: 2;
    cursor: grab;
    touch-action: none;
  }
  svg .handle:active {
    cursor: grabbing;
  }
  svg .pad {
    fill: transparent;
    touch-action: none;
    cursor: crosshair;
  }
  @media print {
    .bar,
    .controls,
    output {
      display: none;
    }
  }
`;
