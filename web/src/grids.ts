// The data of a sweep's page: each metric over the first key of the grid. `python/thalweg/report/_charts.py` writes it.

import { number } from "./format";
import type { Sketch } from "./scene";

/** Place on the axis, value of the key, mean, half of the 95 % interval or null, number of distinct runs. */
export type GridPoint = readonly [place: number, value: string, mean: number, interval: number | null, n: number];

export interface GridLine {
  /** Values of the other keys. */
  readonly label: string;
  readonly colour: string;
  readonly points: readonly GridPoint[];
}

export interface Grid {
  /** The metric. */
  readonly name: string;
  /** With its unit. */
  readonly label: string;
  readonly lines: readonly GridLine[];
  readonly python: string;
}

export interface Grids {
  readonly format: number;
  readonly title: string;
  readonly x: { readonly label: string; readonly key: string; readonly numeric: boolean; readonly joined: boolean; readonly logarithmic: boolean };
  /** Names of the other keys. */
  readonly others: string;
  readonly charts: readonly Grid[];
}

const FORMAT = 2;
/** More values than this have round numbers as ticks. */
const TICKS = 10;
/** Minimum height of the axis, as a share of its largest value: almost equal values look equal. */
const STEADY = 0.05;

export function readGrids(text: string): Grids {
  const data = JSON.parse(text) as Grids;
  if (data.format !== FORMAT) throw new Error(`the data have format ${data.format}; this script reads ${FORMAT}`);
  return data;
}

/** Where a point is on the horizontal axis; words are side by side where several lines have them. */
export function placeOf(data: Grids, place: number, line: number, lines: number): number {
  const aside = data.x.joined ? 0 : Math.min(0.12, 0.6 / lines) * (line - (lines - 1) / 2);
  return (data.x.logarithmic ? Math.log10(place) : place) + aside;
}

/** A grid as it is drawn, with the lines that `shown` names. */
export function sketchOf(data: Grids, chart: Grid, shown: (label: string) => boolean): Sketch {
  const drawn = chart.lines.map((line, index) => ({ line, index })).filter(({ line }) => shown(line.label));
  const place = (point: GridPoint, index: number) => placeOf(data, point[0], index, chart.lines.length);
  const all = chart.lines.flatMap((line, index) => line.points.map((point) => place(point, index)));
  const values = drawn.flatMap(({ line }) => line.points.flatMap(([, , mean, interval]) => [mean - (interval ?? 0), mean + (interval ?? 0)]));
  const x = padded(all, 0.06, 0);
  const ticks = new Map(chart.lines.flatMap((line) => line.points.map((point) => [placeOf(data, point[0], 0, 1), data.x.numeric ? number(point[0]) : point[1]] as const)));
  return {
    title: chart.name,
    xLabel: data.x.label,
    yLabel: chart.label,
    x,
    y: padded(values, 0.05, STEADY),
    lines: drawn.map(({ line, index }) => ({
      label: line.label,
      colour: line.colour,
      runs: data.x.joined ? [line.points.flatMap((point) => [place(point, index), point[2]])] : [],
      points: line.points.map((point) => [place(point, index), point[2]] as const),
      bars: line.points.filter((point) => point[3] !== null && point[3] > 0).map((point) => [place(point, index), point[2] - point[3]!, point[2] + point[3]!] as const),
    })),
    marks: [],
    ...(!data.x.numeric || data.x.logarithmic || ticks.size <= TICKS ? { xTicks: [...ticks] } : {}),
    shade: null,
  };
}

function padded(values: readonly number[], share: number, steady: number): [number, number] {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const least = steady * Math.max(Math.abs(low), Math.abs(high));
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, least / 2) * (1 + 2 * share) || 0.5;
  return [middle - half, middle + half];
}

/** The points of a chart as CSV (RFC 4180). */
export function gridCsv(data: Grids, chart: Grid): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const several = data.others !== "";
  const head = [data.x.key, ...(several ? [data.others] : []), chart.label, "ci95", "n"].map(quoted).join(",");
  const rows = chart.lines.flatMap((line) => line.points.map(([, value, mean, interval, n]) => [quoted(value), ...(several ? [quoted(line.label)] : []), mean, interval ?? "", n].join(",")));
  return `${[head, ...rows].join("\r\n")}\r\n`;
}
