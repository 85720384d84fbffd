// A chart as lines and text with explicit colours on white: what SVG, PDF and PNG files are made of.

import { labelsOf } from "./drawing";
import { number, ticks } from "./format";
import type { Polyline, Sketch } from "./sketch";

export type Primitive =
  | { readonly kind: "line"; readonly points: readonly number[]; readonly colour: string; readonly width: number; readonly dash: readonly number[] }
  | { readonly kind: "area"; readonly points: readonly number[]; readonly colour: string; readonly opacity: number }
  | { readonly kind: "box"; readonly x: number; readonly y: number; readonly width: number; readonly height: number; readonly colour: string }
  | { readonly kind: "text"; readonly x: number; readonly y: number; readonly text: string; readonly size: number; readonly anchor: "start" | "middle" | "end"; readonly turned: boolean; readonly bold: boolean; readonly colour?: string };

/** Primitives in points (1/72 inch), y downwards. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly primitives: readonly Primitive[];
  /** Where a point of the axes is in the scene. */
  readonly at: (x: number, y: number) => [number, number];
}

export const INK = "#1d2733";
const GRID = "#d5dae0";
const SHADE = "#eef1f4";
const WIDTH = 590;
const MIN_WIDTH = 210;
const PLOT_HEIGHT = 170;
const LEFT = 62;
const RIGHT = 12;
const ROW = 14;
/** Width of a line's sign in a legend. */
const SIGN = 18;
/** Half of the width of a box plot. */
const BOX = 8;
/** Points between the middles of boxes side by side. */
export const STEP = 2.4 * BOX;

/** Average width of a character of Helvetica, as a share of the size. */
export const CHARACTER = 0.54;

/** Rows of a label below an axis, their distance, and the free space between two labels. */
const [LABEL_ROWS, LABEL_ROW, LABEL_GAP] = [4, 11, 6];

/** Size of a label of a mark. */
const MARK = 7.5;

/** Characters of a label below an axis that is turned. */
const TURNED = 22;

/** Width in points for a place of this width in pixels: text has the size that it has in all charts of a page, 12 pixels. */
export function widthFor(pixels: number): number {
  return pixels > 0 ? Math.max(0.75 * pixels, MIN_WIDTH) : WIDTH;
}

export function scene(sketch: Sketch, width = WIDTH): Scene {
  const primitives: Primitive[] = [];
  const rows = legendRows(sketch.lines, width);
  const marks = sketch.marks.filter(([at]) => at >= sketch.x[0] && at <= sketch.x[1]);
  const top = 24 + rows.length * ROW + (rows.length > 0 ? 6 : 0) + (marks.length > 0 ? ROW : 0);
  const bottom = top + PLOT_HEIGHT;
  const x = scale(sketch.x, LEFT, width - RIGHT);
  const y = scale(sketch.y, bottom, top);
  const text = (at: readonly [number, number], words: string, more: Partial<Extract<Primitive, { kind: "text" }>> = {}) =>
    primitives.push({ kind: "text", x: at[0], y: at[1], text: words, size: 9, anchor: "start", turned: false, bold: false, ...more });
  const line = (points: readonly number[], colour: string, thick: number, dash: readonly number[] = []) => primitives.push({ kind: "line", points, colour, width: thick, dash });

  if (sketch.shade) {
    const [from, to] = [x(Math.max(sketch.shade[0], sketch.x[0])), x(Math.min(sketch.shade[1], sketch.x[1]))];
    if (to > from) primitives.push({ kind: "box", x: from, y: top, width: to - from, height: PLOT_HEIGHT, colour: SHADE });
  }
  text([LEFT, 14], sketch.title, { size: 10.5, bold: true });
  rows.forEach((row, index) => {
    for (const { entry, left, words } of row) {
      const level = 28 + index * ROW;
      if (entry) line([left, level - 3, left + 14, level - 3], entry.colour, 2, entry.dash);
      text([left + SIGN, level], words);
    }
  });
  for (const value of ticks(sketch.y[0], sketch.y[1], 5)) {
    line([LEFT, y(value), width - RIGHT, y(value)], GRID, 0.5);
    text([LEFT - 6, y(value) + 3], number(value), { anchor: "end" });
  }
  const xTicks = sketch.xTicks ?? ticks(sketch.x[0], sketch.x[1], Math.max(Math.round((8 * width) / WIDTH), 3)).map((one) => [one, number(one)] as const);
  const labels = rowsOfLabels(xTicks.map(([value, words]) => [x(value), words]), width);
  // where a label would be cut, as on a phone, all are turned
  const turned = labels.some((rows) => rows.some((row) => row.endsWith("…"))) ? xTicks.map(([, words]) => shortened(words, TURNED)) : null;
  xTicks.forEach(([value], index) => {
    line([x(value), bottom, x(value), bottom + 3], INK, 0.7);
    if (turned) text([x(value) + 3, bottom + 7], turned[index]!, { anchor: "end", turned: true });
    else labels[index]!.forEach((words, row) => text([x(value), bottom + 14 + row * LABEL_ROW], words, { anchor: "middle" }));
  });
  const longest = Math.max(0, ...(turned ?? []).map((words) => words.length));
  const below = turned ? Math.max(longest * 9 * CHARACTER - 7, 0) : (Math.max(1, ...labels.map((rows) => rows.length)) - 1) * LABEL_ROW;
  line([LEFT, top, LEFT, bottom, width - RIGHT, bottom], INK, 0.7);
  for (const one of sketch.lines) for (const run of one.runs) if (run.length > 2) line(run.map((value, at) => (at % 2 === 0 ? x(value) : y(value))), one.colour, 1.2, one.dash);
  for (const one of sketch.lines) {
    for (const [at, low, high] of one.bars ?? []) {
      const ends = [low, high].map((end) => Math.min(Math.max(end, sketch.y[0]), sketch.y[1]));
      line([x(at), y(ends[0]!), x(at), y(ends[1]!)], one.colour, 1);
      for (const [end, edge] of [[low, -1], [high, 1]] as const) {
        const beyond = edge < 0 ? end < sketch.y[0] : end > sketch.y[1];
        const level = y(ends[edge < 0 ? 0 : 1]!);
        line(beyond ? [x(at) - 3, level + 4 * edge, x(at), level, x(at) + 3, level + 4 * edge] : [x(at) - 3, level, x(at) + 3, level], one.colour, 1);
      }
    }
    for (const [at, box, aside] of one.boxes ?? []) {
      const middle = x(at) + aside * STEP;
      const [left, right] = [middle - BOX, middle + BOX];
      const [low, high] = [y(box.low), y(box.high)];
      line([left, low, left, high, right, high, right, low, left, low], one.colour, 1);
      line([left, y(box.median), right, y(box.median)], one.colour, 2.2);
      for (const [from, to] of [[low, y(box.whiskers[0])], [high, y(box.whiskers[1])]] as const) {
        line([middle, from, middle, to], one.colour, 1);
        line([middle - BOX / 2, to, middle + BOX / 2, to], one.colour, 1);
      }
      for (const value of box.beyond) primitives.push({ kind: "box", x: middle - 1.5, y: y(value) - 1.5, width: 3, height: 3, colour: one.colour });
    }
    for (const [at, value] of one.points ?? []) primitives.push({ kind: "box", x: x(at) - 2.5, y: y(value) - 2.5, width: 5, height: 5, colour: one.colour });
  }
  for (const [at] of marks) line([x(at), top - 2, x(at), bottom], INK, 0.7, [2, 2]);
  const places = marks.map(([at]) => x(at));
  for (const label of labelsOf(places, marks.map(([, words]) => words), (words) => widthOf(words, MARK), [LEFT, width - RIGHT])) text([label.x, top - 5], label.words, { size: MARK });
  text([(LEFT + width - RIGHT) / 2, bottom + 28 + below], sketch.xLabel, { anchor: "middle" });
  text([12, (top + bottom) / 2], sketch.yLabel, { anchor: "middle", turned: true });
  return { width, height: bottom + 36 + below, primitives, at: (one, other) => [x(one), y(other)] };
}

/** A text of at most this many characters; what is longer ends in "…". */
export function shortened(words: string, most: number): string {
  return words.length > most ? `${words.slice(0, most - 1)}…` : words;
}

/** Labels below an axis, in as many rows as their places leave room for; what is still too long ends in "…". */
export function rowsOfLabels(labels: readonly (readonly [number, string])[], width = WIDTH): string[][] {
  const places = labels.map(([place]) => place).sort((one, other) => one - other);
  const room = Math.min(width - LEFT - RIGHT, ...places.slice(1).map((place, index) => place - places[index]!)) - LABEL_GAP;
  const most = Math.max(Math.floor(room / (9 * CHARACTER)), 3);
  return labels.map(([, words]) => {
    const rows: string[] = [];
    for (const piece of words.length > most ? words.split(/(?<=[ _.])/) : [words]) {
      const last = rows.at(-1);
      if (last !== undefined && (last + piece).trimEnd().length <= most) rows[rows.length - 1] = last + piece;
      else rows.push(piece);
    }
    const kept = rows.slice(0, LABEL_ROWS).map((row) => row.trimEnd());
    const cut = kept.map((row, index) => (row.length > most && words.length > most ? `${row.slice(0, most - 1)}…` : index === LABEL_ROWS - 1 && rows.length > LABEL_ROWS ? `${row.slice(0, most - 1)}…` : row));
    return cut.length > 0 ? cut : [""];
  });
}

/** A text in rows of this width, broken between words, with a text of this size; what is still too long ends in "…". */
export function rowsIn(text: string, width: number, size: number, most = 3): string[] {
  const letters = Math.max(Math.floor(width / (size * CHARACTER)), 3);
  const rows: string[] = [];
  for (const piece of text.split(/(?<=[ _/=])/)) {
    const last = rows.at(-1);
    if (last !== undefined && (last + piece).trimEnd().length <= letters) rows[rows.length - 1] = last + piece;
    else rows.push(piece);
  }
  const cut = rows.slice(0, most).map((row, index) => {
    const short = row.trimEnd();
    return short.length > letters || (index === most - 1 && rows.length > most) ? `${short.slice(0, letters - 1)}…` : short;
  });
  return cut.length > 0 ? cut : [""];
}

/** A part of a legend: the line whose sign it has, which only the first row of a long label has. */
interface LegendEntry {
  readonly entry: Polyline | null;
  readonly left: number;
  readonly words: string;
}

/** The rows of a legend of this width. A label that is longer than a row is broken into several. */
function legendRows(lines: readonly Polyline[], wide: number): LegendEntry[][] {
  if (lines.length < 2 || lines.every((line) => line.label === "")) return [];
  const rows: LegendEntry[][] = [];
  const room = wide - RIGHT - LEFT - SIGN;
  let left = Infinity;
  for (const line of lines) {
    const width = SIGN + widthOf(line.label, 9) + 14;
    if (left + width > wide - RIGHT) {
      rows.push([]);
      left = LEFT;
    }
    const [first, ...rest] = widthOf(line.label, 9) > room ? rowsIn(line.label, room, 9) : [line.label];
    rows[rows.length - 1]!.push({ entry: line, left, words: first! });
    for (const words of rest) rows.push([{ entry: null, left: LEFT, words }]);
    left = rest.length > 0 ? Infinity : left + width;
  }
  return rows;
}

function scale([low, high]: readonly [number, number], from: number, to: number): (value: number) => number {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** The scene as an SVG document, which any reader draws. */
export function svg({ width, height, primitives }: Scene): string {
  const parts = primitives.map((one) => {
    switch (one.kind) {
      case "line":
        return `<polyline points="${pairs(one.points)}" fill="none" stroke="${one.colour}" stroke-width="${one.width}"${one.dash.length > 0 ? ` stroke-dasharray="${one.dash.join(" ")}"` : ""} stroke-linejoin="round"/>`;
      case "area":
        return `<polygon points="${pairs(one.points)}" fill="${one.colour}" fill-opacity="${one.opacity}"/>`;
      case "box":
        return `<rect x="${round(one.x)}" y="${round(one.y)}" width="${round(one.width)}" height="${round(one.height)}" fill="${one.colour}"/>`;
      case "text": {
        const place = `${round(one.x)} ${round(one.y)}`;
        return `<text transform="translate(${place})${one.turned ? " rotate(-90)" : ""}" font-size="${one.size}" text-anchor="${one.anchor}"${one.bold ? ' font-weight="bold"' : ""} fill="${one.colour ?? INK}">${escaped(one.text)}</text>`;
      }
    }
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, sans-serif">\n<rect width="${width}" height="${height}" fill="#ffffff"/>\n${parts.join("\n")}\n</svg>\n`;
}

function pairs(points: readonly number[]): string {
  const words: string[] = [];
  for (let at = 0; at + 1 < points.length; at += 2) words.push(`${round(points[at]!)},${round(points[at + 1]!)}`);
  return words.join(" ");
}

/** Hundredths of a point suffice. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Width of a text in points, estimated. */
export function widthOf(text: string, size: number): number {
  return text.length * size * CHARACTER;
}
