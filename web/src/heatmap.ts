// A metric over two keys of a grid as a heat map: a column per value of the first key, a row per combination of the others.

import { number } from "./format";
import type { Grid, GridPoint, Grids } from "./grids";
import { CHARACTER, rowsIn, type Primitive, type Scene } from "./scene";

export interface Cell {
  readonly column: number;
  readonly row: number;
  readonly label: string;
  readonly point: GridPoint;
  readonly colour: string;
}

export interface HeatMap extends Scene {
  readonly cells: readonly Cell[];
  readonly columns: number;
  readonly rows: number;
  /** The cell at a place of the scene. */
  readonly cellAt: (x: number, y: number) => Cell | null;
}

/** From the lowest value to the highest: light to dark, the same on light and dark pages. */
const SHADES = ["#e4eff3", "#a9cfdb", "#62a5ba", "#2a7691", "#0a4a66"];
const [DARK, LIGHT] = ["#10181e", "#f5fafc"];
const [CELL, TOP, BAR, WORDS] = [26, 42, 10, 9];
/** Space of a row of a label below the columns. */
const LINE = 11;
/** Fewer columns or rows than this are better seen as lines. */
const LEAST = 2;
/** More lines than this are hard to tell apart, so that the heat map comes first. */
export const MANY_LINES = 6;

/** Whether a chart has a second dimension. */
export function hasMap(chart: Grid): boolean {
  return chart.lines.length >= LEAST && columnsOf(chart).length >= LEAST;
}

/** Places on the axis with their words, in order. */
function columnsOf(chart: Grid): (readonly [number, string])[] {
  const found = new Map(chart.lines.flatMap((line) => line.points.map((point) => [point[0], point[1]] as const)));
  return [...found].sort(([one], [other]) => one - other);
}

export function mapScene(data: Grids, chart: Grid, title: string, width: number): HeatMap {
  const columns = columnsOf(chart);
  const means = chart.lines.flatMap((line) => line.points.map((point) => point[2]));
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const share = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
  const longest = Math.max(...chart.lines.map((line) => line.label.length), data.others.length);
  const left = Math.min(longest * WORDS * CHARACTER + 14, 0.38 * width);
  const wide = (width - left - 8) / columns.length;
  const top = TOP + (title ? 18 : 0);
  const primitives: Primitive[] = [];
  const text = (x: number, y: number, words: string, more: Partial<Extract<Primitive, { kind: "text" }>> = {}) =>
    primitives.push({ kind: "text", x, y, text: words, size: WORDS, anchor: "start", turned: false, bold: false, ...more });
  if (title) text(0, 14, title, { size: 10.5, bold: true });

  // the scale: from the lowest mean to the highest
  const steps = 24;
  const bar = Math.min(160, 0.3 * width);
  text(left, top - TOP + 10, rowsIn(chart.label, width - left, WORDS, 1)[0]!);
  const level = top - TOP + 18;
  text(left, level + BAR, number(low), { anchor: "start" });
  const from = left + number(low).length * WORDS * CHARACTER + 6;
  for (let step = 0; step < steps; step++) primitives.push({ kind: "box", x: from + (step * bar) / steps, y: level, width: bar / steps + 0.3, height: BAR, colour: shade((step + 0.5) / steps) });
  text(from + bar + 6, level + BAR, number(high));

  const cells: Cell[] = [];
  chart.lines.forEach((line, row) => {
    const y = top + row * CELL;
    text(left - 6, y + CELL / 2 + 3, rowsIn(line.label, left - 8, WORDS, 1)[0]!, { anchor: "end" });
    for (const point of line.points) {
      const column = columns.findIndex(([place]) => place === point[0]);
      const colour = shade(share(point[2]));
      cells.push({ column, row, label: line.label, point, colour });
      primitives.push({ kind: "box", x: left + column * wide + 0.5, y: y + 0.5, width: wide - 1, height: CELL - 1, colour });
      const words = number(point[2], 3);
      if (words.length * WORDS * CHARACTER < wide - 2) text(left + (column + 0.5) * wide, y + CELL / 2 + 3, words, { anchor: "middle", colour: share(point[2]) > 0.66 ? LIGHT : DARK });
    }
  });
  const bottom = top + chart.lines.length * CELL;
  const labels = columns.map(([place, words]) => rowsIn(data.x.numeric ? number(place) : words, wide - 4, WORDS));
  labels.forEach((rows, column) => rows.forEach((words, index) => text(left + (column + 0.5) * wide, bottom + 12 + index * LINE, words, { anchor: "middle" })));
  const below = bottom + 12 + Math.max(1, ...labels.map((rows) => rows.length)) * LINE + 4;
  text(left + (columns.length * wide) / 2, below, data.x.label, { anchor: "middle" });
  if (data.others) text(left - 6, below, rowsIn(data.others, left - 8, WORDS, 1)[0]!, { anchor: "end" });
  return {
    width,
    height: below + 8,
    primitives,
    cells,
    columns: columns.length,
    rows: chart.lines.length,
    at: (column, row) => [left + (column + 0.5) * wide, top + (row + 0.5) * CELL],
    cellAt: (x, y) => {
      const [column, row] = [Math.floor((x - left) / wide), Math.floor((y - top) / CELL)];
      return cells.find((cell) => cell.column === column && cell.row === row) ?? null;
    },
  };
}

/** The colour of a share from 0 to 1 of the scale. */
export function shade(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (SHADES.length - 1);
  const index = Math.min(Math.floor(at), SHADES.length - 2);
  const mix = (place: number) => {
    const [one, other] = [SHADES[index]!, SHADES[index + 1]!].map((colour) => parseInt(colour.slice(place, place + 2), 16)) as [number, number];
    return Math.round(one + (other - one) * (at - index)).toString(16).padStart(2, "0");
  };
  return `#${mix(1)}${mix(3)}${mix(5)}`;
}
