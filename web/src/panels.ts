// The data of a paper's figures: panels with lines, bars, bands and marks. `python/thalweg/report/_panels.py` writes them.

import { columnsOf, FORMAT } from "./data";
import { number, ticks } from "./format";
import { CHARACTER, INK, rowsIn, shortened, widthOf, type Primitive, type Scene } from "./scene";

export interface Axis {
  readonly label: string;
  readonly range: readonly [number, number];
  readonly logarithmic: boolean;
  /** Chosen ticks, and their words; null for round numbers. */
  readonly ticks: readonly (readonly [number, string])[] | null;
  /** Whether ticks are names of places, which have no numbers between them. */
  readonly words: boolean;
}

export interface Part {
  /** `mark` is a value that the paper prints; `rule` a line across the panel, `span` a shaded range of an axis. */
  readonly kind: "line" | "mark" | "bar" | "error" | "band" | "rule" | "span";
  readonly label: string;
  readonly colour: string;
  readonly width: number;
  /** Lengths of dashes and gaps in turn, in widths of the line; empty for a solid one. */
  readonly dash: readonly number[];
  readonly marker: boolean;
  /** Of a band. */
  readonly opacity: number;
  /** The axis of a span. */
  readonly along: "x" | "y";
  /** NaN is a gap; of a rule or a span, where it does not stand. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Lower and upper ends, of bars, errors and spans. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

export interface Panel {
  readonly title: string;
  /** Left, top, width and height as shares of the figure. */
  readonly place: readonly [number, number, number, number];
  readonly x: Axis;
  readonly y: Axis;
  readonly parts: readonly Part[];
}

export interface PanelFigure {
  readonly id: string;
  readonly title: string;
  readonly python: string;
  readonly panels: readonly Panel[];
}

/** Reads the figures of a page. Throws if they have another format or the browser cannot decompress them. */
export async function readPanels(text: string): Promise<PanelFigure[]> {
  const header = JSON.parse(text);
  if (header.format !== FORMAT) throw new Error(`the data have format ${header.format}; this script reads ${FORMAT}`);
  const column = await columnsOf(header.bytes);
  const empty = new Float64Array();
  for (const figure of header.figures) {
    for (const panel of figure.panels) {
      for (const part of panel.parts) for (const key of ["x", "y", "low", "high"]) part[key] = part[key] ? column(part[key]) : empty;
    }
  }
  return header.figures;
}

/** What a legend says of a line: its name and its sign. */
export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly mark: boolean;
}

/** The legend of a figure, in order. */
export function legendOf(figure: PanelFigure): LegendEntry[] {
  const found = new Map<string, LegendEntry>();
  for (const panel of figure.panels) {
    for (const part of panel.parts) {
      const { label, colour, kind } = part;
      if (label && !found.has(label)) found.set(label, { label, colour, dash: dashOf(part), mark: kind === "mark" });
    }
  }
  return [...found.values()];
}

/** Dashes of a part in pixels. Records of earlier versions only say that there are some. */
function dashOf({ dash, width }: Part): number[] {
  if (!Array.isArray(dash)) return dash ? [4, 3] : [];
  return dash.map((length) => 1.5 * length * Math.max(width, 1));
}

/**
 * The label that shows and hides a part: its own, or that of a part of the same colour, such as the line of a band. Empty
 * for a part that is always shown.
 */
export function ownerOf(figure: PanelFigure, part: Part): string {
  if (part.label) return part.label;
  if (part.kind === "span" || part.kind === "rule") return "";
  const labelled = figure.panels.flatMap((panel) => panel.parts).filter((one) => one.label && one.kind !== "mark");
  const same = labelled.find((one) => one.colour === part.colour);
  return same?.label ?? "";
}

/** Panels of one group are zoomed together: those with the same numbers along x. */
export function groupOf(panel: Panel): string | null {
  return panel.x.words ? null : `${panel.x.label || "time (s)"} ${panel.x.logarithmic}`;
}

/** A value under the pointer. */
export interface Reading {
  readonly label: string;
  readonly place: string;
  readonly value: number;
  /** The ends of an interval, if the panel has one there. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly printed: boolean;
  readonly x: number;
  readonly y: number;
}

const LEFT = 66;
const RIGHT = 10;
/** Titles begin beside the title of the axis. */
const TITLE_LEFT = 26;
const TITLE_ROW = 15;
const LABEL_ROW = 12;
/** Size of a word below an axis, and its characters where it is turned. */
const [LABEL, TURNED] = [10.5, 22];
const GRID = "#d5dae0";

export interface Drawn extends Scene {
  /** Inner box: left, top, right, bottom. */
  readonly inner: readonly [number, number, number, number];
  /** The x of a position in the scene. */
  readonly placeOf: (left: number) => number;
}

/** A panel of this width in the visible range of x, with the parts that `shown` names. */
export function panelScene(figure: PanelFigure, panel: Panel, range: readonly [number, number], shown: (label: string) => boolean, width: number): Drawn {
  const primitives: Primitive[] = [];
  const words = axisTicks(panel.x, range, Math.max(Math.floor(width / 70), 2));
  // the number at the end of the axis is not cut
  const right = width - (panel.x.words ? RIGHT : Math.max(RIGHT, ...words.map(([, word]) => widthOf(word, 12) / 2 + 2)));
  const title = rowsIn(panel.title, width - TITLE_LEFT - RIGHT, 12.5 * 1.06);
  const x = scaled(panel.x, range, LEFT, right);
  const places = words.map(([value]) => x(value)).sort((one, other) => one - other);
  const room = Math.min(right - LEFT, ...places.slice(1).map((place, index) => place - places[index]!));
  const rows = words.map(([, word]) => (panel.x.words ? rowsIn(word, room - 4, LABEL, LABEL_ROWS) : [word]));
  // where a label would be cut, as on a phone, all are turned; where turned ones would run into each other, some have no place
  const turned = panel.x.words && rows.flat().some((row) => row.endsWith("…") || widthOf(row, LABEL) > room);
  const every = turned ? Math.ceil((LABEL * 1.1) / room) : 1;
  const named = words.flatMap(([value, word], index) => (index % every > 0 ? [] : [[value, turned ? [shortened(word, TURNED)] : rows[index]!] as const]));
  // titles and labels take their rows from the page, not from the panel
  const TOP = 24 + (title.length - 1) * TITLE_ROW;
  const longest = Math.max(...named.map(([, [word]]) => widthOf(word!, LABEL)), 0);
  const below = 46 + (turned ? Math.max(Math.ceil(longest) - LABEL_ROW, 0) : (Math.max(1, ...named.map(([, rows]) => rows.length)) - 1) * LABEL_ROW);
  const height = Math.round(Math.min(Math.max(0.55 * width, 170), 270)) + TOP - 24 + below - 46;
  const bottom = height - below;
  const y = scaled(panel.y, panel.y.range, bottom, TOP);
  const text = (left: number, top: number, words: string, more: Partial<Extract<Primitive, { kind: "text" }>> = {}) =>
    primitives.push({ kind: "text", x: left, y: top, text: words, size: 12, anchor: "start", turned: false, bold: false, ...more });
  const line = (points: readonly number[], colour: string, width: number, dash: readonly number[] = []) => primitives.push({ kind: "line", points, colour, width, dash });
  const parts = panel.parts.filter((part) => {
    const owner = ownerOf(figure, part);
    return !owner || shown(owner);
  });
  const inside = (value: number) => value >= range[0] && value <= range[1];
  const clamped = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);

  for (const part of parts.filter((one) => one.kind === "span")) {
    const scale = part.along === "x" ? x : y;
    const [from, to] = [scale(part.low[0]!), scale(part.high[0]!)].sort((one, other) => one - other) as [number, number];
    const box = part.along === "x" ? [clamped(from, LEFT, right), TOP, clamped(to, LEFT, right), bottom] : [LEFT, clamped(from, TOP, bottom), right, clamped(to, TOP, bottom)];
    primitives.push({ kind: "box", x: box[0]!, y: box[1]!, width: box[2]! - box[0]!, height: box[3]! - box[1]!, colour: SHADE });
  }
  for (const [value, words] of axisTicks(panel.y, panel.y.range, 5)) {
    line([LEFT, y(value), right, y(value)], GRID, 0.5);
    text(LEFT - 6, y(value) + 4, words, { anchor: "end" });
  }
  for (const [value, rows] of named) {
    line([x(value), bottom, x(value), bottom + 3], INK, 0.7);
    if (turned) text(x(value) + LABEL / 3, bottom + 7, rows[0]!, { anchor: "end", turned, size: LABEL });
    else rows.forEach((row, index) => text(x(value), bottom + 15 + index * LABEL_ROW, row, { anchor: "middle", ...(panel.x.words ? { size: LABEL } : {}) }));
  }
  // below the lines: one that is zero all the time is seen
  line([LEFT, TOP, LEFT, bottom, right, bottom], INK, 0.7);
  for (const part of parts) {
    switch (part.kind) {
      case "band": {
        for (const run of runsOf(part, x, y, [LEFT, right, TOP, bottom])) primitives.push({ kind: "area", points: run, colour: part.colour, opacity: part.opacity });
        break;
      }
      case "bar":
        part.x.forEach((at, index) => {
          if (!inside(at)) return;
          const half = Math.abs(x(at + part.width / 2) - x(at - part.width / 2)) / 2;
          const [from, to] = [clamped(y(part.low[index]!), TOP, bottom), clamped(y(part.y[index]!), TOP, bottom)];
          primitives.push({ kind: "box", x: x(at) - half, y: Math.min(from, to), width: 2 * half, height: Math.abs(from - to), colour: part.colour });
        });
        break;
      case "error":
        part.x.forEach((at, index) => {
          const [low, high] = [part.low[index]!, part.high[index]!];
          if (!inside(at) || Number.isNaN(low) || Number.isNaN(high)) return;
          // a logarithmic axis has no place for what is not positive: it is below its lower edge
          const [from, to] = [low, high].map((end) => (panel.y.logarithmic && end <= 0 ? Infinity : y(end))) as [number, number];
          const [start, stop] = [clamped(from, TOP, bottom), clamped(to, TOP, bottom)];
          line([x(at), start, x(at), stop], part.colour, 1);
          // an end beyond the panel is an arrow at its edge
          for (const [end, level] of [[from, start], [to, stop]] as const) {
            const tip = end === level ? 0 : end > level ? -3 : 3;
            line(tip === 0 ? [x(at) - 2.5, level, x(at) + 2.5, level] : [x(at) - 2.5, level + tip, x(at), level, x(at) + 2.5, level + tip], part.colour, 1);
          }
        });
        break;
      case "rule": {
        const upright = !Number.isNaN(part.x[0]!);
        const at = upright ? x(part.x[0]!) : y(part.y[0]!);
        if (upright ? inside(part.x[0]!) : at >= TOP && at <= bottom) line(upright ? [at, TOP, at, bottom] : [LEFT, at, right, at], part.colour, part.width, dashOf(part));
        break;
      }
      case "line":
        if (part.width > 0) for (const run of runsOf(part, x, y, [LEFT, right, TOP, bottom])) if (run.length > 2) line(run, part.colour, part.width, dashOf(part));
        if (part.marker) for (const [px, py] of pointsOf(part, x, y, range, panel.y.range)) {
          // a point that no line leads to is found by its size
          const half = part.width > 0 ? 2 : 4;
          primitives.push({ kind: "box", x: px - half, y: py - half, width: 2 * half, height: 2 * half, colour: part.colour });
        }
        break;
      case "mark":
        for (const [px, py] of pointsOf(part, x, y, range, panel.y.range)) line([px, py - 5, px + 5, py, px, py + 5, px - 5, py, px, py - 5], INK, 1.2);
    }
  }
  title.forEach((row, index) => text(TITLE_LEFT, 14 + index * TITLE_ROW, row, { size: 12.5, bold: true }));
  text((LEFT + right) / 2, height - 12, panel.x.label, { anchor: "middle" });
  // a label that is longer than the axis is in the middle of the panel, and smaller if need be
  const [long, free] = [panel.y.label.length * 12 * CHARACTER, height - 12];
  const level = long > bottom - TOP ? height / 2 : (TOP + bottom) / 2;
  text(12, level, panel.y.label, { anchor: "middle", turned: true, size: Math.min(12, Math.max((12 * free) / long, 8)) });
  const back = panel.x.logarithmic ? (value: number) => 10 ** value : (value: number) => value;
  const [low, high] = panel.x.logarithmic ? [Math.log10(range[0]), Math.log10(range[1])] : range;
  const placeOf = (left: number) => back(low + ((left - LEFT) / (right - LEFT)) * (high - low));
  return { width, height, primitives, at: (one, other) => [x(one), y(other)], inner: [LEFT, TOP, right, bottom], placeOf };
}

const SHADE = "#eef1f4";
/** Rows of a label below the axis. */
const LABEL_ROWS = 3;

function scaled(axis: Axis, range: readonly [number, number], from: number, to: number): (value: number) => number {
  const turn = axis.logarithmic ? Math.log10 : (value: number) => value;
  const [low, high] = [turn(range[0]), turn(range[1])];
  return (value) => from + ((turn(value) - low) / (high - low || 1)) * (to - from);
}

function axisTicks(axis: Axis, range: readonly [number, number], count: number): (readonly [number, string])[] {
  const [low, high] = range[0] <= range[1] ? range : [range[1], range[0]];
  const visible = (axis.ticks ?? []).filter(([at]) => at >= low && at <= high);
  if (axis.words || visible.length > 1) return visible;
  if (!axis.logarithmic) return ticks(low, high, count).map((at) => [at, number(at)]);
  const powers = Array.from({ length: Math.floor(Math.log10(high)) - Math.ceil(Math.log10(low)) + 1 }, (_, index) => 10 ** (Math.ceil(Math.log10(low)) + index));
  const chosen = powers.length > 2 ? powers : [1, 2, 5].flatMap((factor) => [...powers, (powers[0] ?? high) / 10].map((power) => factor * power)).filter((at) => at >= low && at <= high);
  return chosen.map((at) => [at, number(at)]);
}

/** The visible runs of a line in pixels, held within the box. */
function runsOf(part: Part, x: (value: number) => number, y: (value: number) => number, [left, right, top, bottom]: readonly [number, number, number, number]): number[][] {
  const runs: number[][] = [[]];
  let before: [number, number] | null = null;
  for (let at = 0; at < part.x.length; at++) {
    const place: [number, number] = [x(part.x[at]!), Math.min(Math.max(y(part.y[at]!), top), bottom)];
    if (!Number.isFinite(place[0]) || Number.isNaN(place[1])) {
      before = null;
      runs.push([]);
      continue;
    }
    const run = runs[runs.length - 1]!;
    const outside = place[0] < left || place[0] > right;
    if (before) {
      const cut = (edge: number): [number, number] => [edge, before![1] + ((edge - before![0]) / (place[0] - before![0])) * (place[1] - before![1])];
      for (const edge of place[0] > before[0] ? [left, right] : [right, left]) {
        if (place[0] !== before[0] && (before[0] - edge) * (place[0] - edge) < 0) run.push(...cut(edge));
      }
    }
    // an outline stays closed; a line ends at the edge
    if (part.kind === "band") run.push(Math.min(Math.max(place[0], left), right), place[1]);
    else if (!outside) run.push(...place);
    else if (run.length > 0) runs.push([]);
    before = place;
  }
  return runs.filter((run) => run.length > 0);
}

function pointsOf(part: Part, x: (value: number) => number, y: (value: number) => number, across: readonly [number, number], along: readonly [number, number]): [number, number][] {
  const points: [number, number][] = [];
  part.x.forEach((at, index) => {
    const value = part.y[index]!;
    if (at >= across[0] && at <= across[1] && value >= along[0] && value <= along[1]) points.push([x(at), y(value)]);
  });
  return points;
}

/** What is nearest to a place of the scene, within `reach` points; null for nothing. */
export function readingAt(figure: PanelFigure, panel: Panel, drawn: Drawn, left: number, top: number, reach: number, shown: (label: string) => boolean): Reading | null {
  let best: Reading | null = null;
  let near = reach;
  const [from, , to] = drawn.inner;
  for (const part of panel.parts) {
    if (part.kind === "band" || part.kind === "span" || part.kind === "error" || part.kind === "rule") continue;
    const owner = ownerOf(figure, part);
    if (owner && !shown(owner)) continue;
    for (let at = 0; at < part.x.length; at++) {
      const value = part.y[at]!;
      const [x, y] = drawn.at(part.x[at]!, value);
      // bars are taken over all their height
      const base = part.kind === "bar" ? drawn.at(part.x[at]!, part.low[at]!)[1] : y;
      const aside = Math.min(Math.max(top, Math.min(y, base)), Math.max(y, base)) - top;
      // a mark on a bar is in front of it
      const far = Math.hypot(x - left, aside) - (part.kind === "mark" ? 0.01 : 0);
      if (x < from - 1 || x > to + 1 || !(far < near)) continue;
      near = far;
      best = { label: owner, place: placeWords(panel, part.x[at]!), value, interval: intervalAt(panel, part.x[at]!, value), printed: part.kind === "mark", x, y };
    }
  }
  return best;
}

function placeWords(panel: Panel, x: number): string {
  if (!panel.x.words) return number(x);
  const ticks = panel.x.ticks ?? [];
  return ticks.reduce((best, one) => (Math.abs(one[0] - x) < Math.abs(best[0] - x) ? one : best), ticks[0] ?? [x, number(x)])[1];
}

function intervalAt(panel: Panel, x: number, value: number): [number, number] | null {
  for (const part of panel.parts) {
    if (part.kind !== "error") continue;
    // a bar's middle is computed from its edges
    const at = part.x.findIndex((one) => Math.abs(one - x) <= 1e-9 * Math.abs(panel.x.range[1] - panel.x.range[0]));
    if (at >= 0 && part.low[at]! <= value && part.high[at]! >= value) return [part.low[at]!, part.high[at]!];
  }
  return null;
}

/** All panels of a figure, as they are, in one scene. */
export function together(title: string, scenes: readonly Drawn[], columns: number): Scene {
  const primitives: Primitive[] = [{ kind: "text", x: 12, y: 16, text: title, size: 10.5, anchor: "start", turned: false, bold: true }];
  const [wide, tall] = [scenes[0]?.width ?? 0, scenes[0]?.height ?? 0];
  scenes.forEach((one, index) => {
    const [dx, dy] = [(index % columns) * wide, 24 + Math.floor(index / columns) * tall];
    for (const part of one.primitives) {
      primitives.push("points" in part ? { ...part, points: part.points.map((value, at) => value + (at % 2 === 0 ? dx : dy)) } : { ...part, x: part.x + dx, y: part.y + dy });
    }
  });
  const rows = Math.ceil(scenes.length / columns);
  return { width: Math.min(columns, scenes.length) * wide, height: 24 + rows * tall, primitives, at: (x, y) => [x, y] };
}

/** Every point of a figure as CSV (RFC 4180); lines without a name have the number of their part. */
export function panelsCsv(figure: PanelFigure): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = figure.panels.flatMap((panel, number) =>
    panel.parts.flatMap((part, index) => {
      if (part.kind === "span" || part.kind === "band") return [];
      const name = part.label || ownerOf(figure, part) || `part ${index + 1}`;
      const cell = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? "" : String(value));
      return Array.from(part.x, (x, at) => [quoted(panel.title || `panel ${number + 1}`), part.kind, quoted(name), cell(x), cell(part.y[at]), cell(part.low[at]), cell(part.high[at])].join(","));
    }),
  );
  return `${["panel,kind,line,x,y,low,high", ...rows].join("\r\n")}\r\n`;
}
