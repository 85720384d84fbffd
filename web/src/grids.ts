// The data of a sweep's page: each metric over the first key of the grid. `python/thalweg/report/_charts.py` writes it.

import { isZero, padded as steady } from "./drawing";
import { DIGITS, meanWords, number } from "./format";
import type { Box, Sketch } from "./sketch";

/** Place on the axis, value of the key, mean, ends of the 95 % interval or null, number of seeds, their values in order. */
export type GridPoint = readonly [place: number, value: string, mean: number, low: number | null, high: number | null, n: number, samples: readonly number[]];

export interface GridLine {
  /** Values of the other keys. */
  readonly label: string;
  readonly colour: string;
  /** Lengths of dashes and gaps in turn, in pixels; a solid line without. */
  readonly dash?: readonly number[];
  readonly points: readonly GridPoint[];
}

export interface Grid {
  /** The metric. */
  readonly name: string;
  /** With its unit. */
  readonly label: string;
  readonly lines: readonly GridLine[];
  /** The least and the greatest possible value; null where there is none. */
  readonly limits: readonly [number | null, number | null];
  /** Significant digits of its numbers that are known, at most. */
  readonly digits: number;
  readonly python: string;
}

export interface Grids {
  readonly format: number;
  readonly title: string;
  readonly x: { readonly label: string; readonly key: string; readonly numeric: boolean; readonly joined: boolean; readonly logarithmic: boolean };
  /** Names of the other keys. */
  readonly others: string;
  /** Box plots first, not means. */
  readonly boxes: boolean;
  readonly charts: readonly Grid[];
}

const FORMAT = 5;
/** Relative error of values of which fewer digits are known. */
const GRAIN = 0.004;
/** More values than this have round numbers as ticks. */
const TICKS = 10;

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

/** Fewer values than this have no quartiles. */
const MIN_SAMPLES = 3;

/** Of sorted values; null if they are too few. */
export function boxOf(sorted: readonly number[]): Box | null {
  if (sorted.length < MIN_SAMPLES) return null;
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    return sorted[below]! + (place - below) * (sorted[Math.min(below + 1, sorted.length - 1)]! - sorted[below]!);
  };
  const [low, median, high] = [at(0.25), at(0.5), at(0.75)];
  const reach = 1.5 * (high - low);
  const within = sorted.filter((value) => value >= low - reach && value <= high + reach);
  // a quartile can lie between two values of which neither is within reach
  const whiskers = [Math.min(within[0] ?? low, low), Math.max(within.at(-1) ?? high, high)] as const;
  return { median, low, high, whiskers, beyond: sorted.filter((value) => value < whiskers[0] || value > whiskers[1]) };
}

/** Whether a chart has enough values over seeds for box plots. */
export function hasBoxes(chart: Grid): boolean {
  return chart.lines.some((line) => line.points.some((point) => boxOf(point[6]) !== null));
}

/** A value of a chart without the digits that are not known. */
export function known(chart: Grid, value: number | undefined): string {
  return number(chart.digits < DIGITS && value !== undefined ? Number(value.toPrecision(chart.digits)) : value);
}

/** The mean of a point with its 95 % confidence interval, if it has one. */
export function meanText(chart: Grid, [, , mean, low, high]: GridPoint): string {
  // an interval narrower than the error of its values says nothing
  const none = low === null || high === null || (chart.digits < DIGITS && high - low <= 2 * GRAIN * Math.abs(mean));
  return none ? known(chart, mean) : meanWords(mean, low, high, chart.digits);
}

/** How many boxes' widths the boxes of a line stand aside; words have places of their own. */
export function asideOf(data: Grids, line: number, lines: number): number {
  return data.x.joined ? line - (lines - 1) / 2 : 0;
}

/** A grid as it is drawn, with the lines that `shown` names. */
export function sketchOf(data: Grids, chart: Grid, shown: (label: string) => boolean, boxes = false): Sketch {
  const drawn = chart.lines.map((line, index) => ({ line, index })).filter(({ line }) => shown(line.label));
  const place = (point: GridPoint, index: number) => placeOf(data, point[0], index, chart.lines.length);
  const all = chart.lines.flatMap((line, index) => line.points.map((point) => place(point, index)));
  // the values of the seeds, never the intervals: those end at the edge of the axis
  const extent = ([, , mean, , , , samples]: GridPoint) => (samples.length > 0 ? [mean, samples[0]!, samples.at(-1)!] : [mean]);
  const values = drawn.flatMap(({ line }) => line.points.flatMap(extent));
  const boxed = (point: GridPoint) => (boxes ? boxOf(point[6]) : null);
  const x = padded(all, 0.06);
  const ticks = new Map(chart.lines.flatMap((line) => line.points.map((point) => [placeOf(data, point[0], 0, 1), data.x.numeric ? number(point[0]) : point[1]] as const)));
  return {
    title: chart.name,
    xLabel: data.x.label,
    yLabel: chart.label,
    x,
    y: held(fromZero(values, drawn.some(({ line }) => isZero(line.points.map((point) => point[2])))), values, chart.limits),
    lines: drawn.map(({ line, index }) => ({
      label: line.label,
      colour: line.colour,
      dash: line.dash ?? [],
      runs: data.x.joined && !boxes ? [line.points.flatMap((point) => [place(point, index), point[2]])] : [],
      points: line.points.filter((point) => !boxed(point)).map((point) => [place(point, index), point[2]] as const),
      boxes: line.points.flatMap((point) => {
        const box = boxed(point);
        return box ? [[place(point, index), box, asideOf(data, index, chart.lines.length)] as const] : [];
      }),
      bars: line.points.filter((point) => !boxed(point) && point[3] !== null && point[4] !== null && point[3] < point[4]).map((point) => [place(point, index), point[3]!, point[4]!] as const),
    })),
    marks: [],
    ...(!data.x.numeric || data.x.logarithmic || ticks.size <= TICKS ? { xTicks: [...ticks] } : {}),
    shade: null,
  };
}

/** An axis without values above those that can be, unless there are such values. */
function held([bottom, high]: [number, number], values: readonly number[], [, greatest]: Grid["limits"]): [number, number] {
  const top = greatest !== null && values.every((value) => value <= greatest) ? Math.min(high, greatest) : high;
  return top > bottom ? [bottom, top] : [bottom, high];
}

function padded(values: readonly number[], share: number): [number, number] {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const half = ((high - low) / 2) * (1 + 2 * share) || 0.5;
  return [(low + high) / 2 - half, (low + high) / 2 + half];
}

/** An axis that begins at zero, so that differences have their size; below it where values are. */
function fromZero(values: readonly number[], zero: boolean): [number, number] {
  return values.length === 0 ? [0, 1] : steady(Math.min(...values), Math.max(...values), zero);
}

/** The points of a chart as CSV (RFC 4180). */
export function gridCsv(data: Grids, chart: Grid, boxes = false): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const several = data.others !== "";
  const head = [data.x.key, ...(several ? [data.others] : []), chart.label, "low", "high", "n"];
  const rows = chart.lines.flatMap((line) => line.points.map((point) => {
    const [, value, mean, low, high, n] = point;
    return [quoted(value), ...(several ? [quoted(line.label)] : []), mean, low ?? "", high ?? "", n, ...(boxes ? boxColumns(point) : [])].join(",");
  }));
  return `${[[...head, ...(boxes ? ["minimum", "q1", "median", "q3", "maximum"] : [])].map(quoted).join(","), ...rows].join("\r\n")}\r\n`;
}

function boxColumns([, , , , , , samples]: GridPoint): (number | string)[] {
  const box = boxOf(samples);
  return box ? [samples[0]!, box.low, box.median, box.high, samples.at(-1)!] : ["", "", "", "", ""];
}
