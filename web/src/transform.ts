// What a chart makes of recorded columns: wider bins, moving averages, means of groups, distributions, fewer points.

import type { ChartData } from "./data";

/** A line as it is drawn: values in the unit of the axis. */
export interface Line {
  readonly key: string;
  readonly label: string;
  readonly colour: string;
  /** Lengths of dashes and gaps in turn, in pixels; none for a solid line. */
  readonly dash: readonly number[];
  readonly values: Float64Array;
}

export interface Lines {
  readonly times: Float64Array;
  readonly lines: readonly Line[];
}

/** Means over `count` consecutive samples; a bin carries the time of its last sample. NaN where all samples are missing. */
export function binned(times: Float64Array, columns: readonly Float64Array[], count: number): { times: Float64Array; columns: Float64Array[] } {
  if (count <= 1) return { times, columns: [...columns] };
  const bins = Math.ceil(times.length / count);
  const ends = new Float64Array(bins);
  for (let bin = 0; bin < bins; bin++) ends[bin] = times[Math.min((bin + 1) * count, times.length) - 1]!;
  return { times: ends, columns: columns.map((column) => means(column, count, bins)) };
}

function means(column: Float64Array, count: number, bins: number): Float64Array {
  const result = new Float64Array(bins);
  for (let bin = 0; bin < bins; bin++) {
    let sum = 0;
    let known = 0;
    const end = Math.min((bin + 1) * count, column.length);
    for (let at = bin * count; at < end; at++) {
      const value = column[at]!;
      if (!Number.isNaN(value)) {
        sum += value;
        known++;
      }
    }
    result[bin] = known > 0 ? sum / known : NaN;
  }
  return result;
}

/** Moving average over the last `spanS` seconds, which leaves gaps where nothing was recorded. */
export function smoothed(times: Float64Array, column: Float64Array, spanS: number): Float64Array {
  if (spanS <= 0) return column;
  const result = new Float64Array(column.length);
  let sum = 0;
  let known = 0;
  let first = 0;
  for (let at = 0; at < column.length; at++) {
    const value = column[at]!;
    if (!Number.isNaN(value)) {
      sum += value;
      known++;
    }
    while (times[first]! <= times[at]! - spanS) {
      const old = column[first]!;
      if (!Number.isNaN(old)) {
        sum -= old;
        known--;
      }
      first++;
    }
    result[at] = Number.isNaN(value) ? NaN : sum / known;
  }
  return result;
}

/** One line per group with more than one subject, its mean over the subjects that are on; one line for each other subject. */
export function grouped(chart: ChartData, columns: readonly Float64Array[]): Line[] {
  const members = new Map<string, number[]>();
  chart.subjects.forEach((subject, index) => {
    const key = subject.group ?? subject.name;
    const listed = members.get(key);
    if (listed) listed.push(index);
    else members.set(key, [index]);
  });
  return [...members].map(([key, indices]) => {
    const first = chart.subjects[indices[0]!]!;
    if (indices.length === 1) return { key: first.name, label: first.label, colour: first.colour, dash: first.dash ?? [], values: columns[indices[0]!]! };
    return { key: `group.${key}`, label: `${key} (mean of ${indices.length})`, colour: first.colour, dash: first.dash ?? [], values: meanOf(indices.map((index) => columns[index]!)) };
  });
}

function meanOf(columns: readonly Float64Array[]): Float64Array {
  return Float64Array.from({ length: columns[0]?.length ?? 0 }, (_, at) => {
    let sum = 0;
    let known = 0;
    for (const column of columns) {
      const value = column[at]!;
      if (!Number.isNaN(value)) {
        sum += value;
        known++;
      }
    }
    return known > 0 ? sum / known : NaN;
  });
}

/**
 * The values between two times and later than `after`, sorted: value `i` of `n` is at a share of (i + 1) / n. A sample is of the interval that ends
 * at its time, so that the one at the end of a warm-up is of the warm-up.
 */
export function distribution(times: Float64Array, column: Float64Array, from: number, to: number, after = -Infinity): Float64Array {
  return column.filter((value, at) => !Number.isNaN(value) && times[at]! >= from && times[at]! <= to && times[at]! > after).sort();
}

/** The smallest value of a sorted column that a share of the values does not exceed. NaN if there is none. */
export function quantile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(Math.max(Math.ceil(share * sorted.length) - 1, 0), sorted.length - 1)]!;
}

/**
 * The `count` lines with the largest mean magnitudes, in their order; missing values do not count. Those that were listed
 * `before` stay, so that a legend does not change while a run grows.
 */
export function largest(lines: readonly Line[], count: number, before: ReadonlySet<string> = new Set()): readonly Line[] {
  if (lines.length <= count) return lines;
  const means = new Map(lines.map((line) => [line, before.has(line.key) ? Infinity : magnitude(line.values)]));
  const kept = new Set([...lines].sort((one, other) => (means.get(other) === means.get(one) ? 0 : means.get(other)! - means.get(one)!)).slice(0, count));
  return lines.filter((line) => kept.has(line));
}

/** The mean magnitude of the known values; 0 without one. */
function magnitude(values: Float64Array): number {
  let [sum, known] = [0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    sum += Math.abs(value);
    known++;
  }
  return known ? sum / known : 0;
}

/**
 * Indices of the points that suffice for a line over `buckets` columns of pixels: first, minimum, maximum and last of each.
 * NaN ends a bucket's run, so that gaps stay.
 */
export function thinned(values: Float64Array, first: number, last: number, buckets: number): number[] {
  const count = last - first + 1;
  if (count <= 4 * buckets) return Array.from({ length: Math.max(count, 0) }, (_, index) => first + index);
  const kept: number[] = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = first + Math.floor((bucket * count) / buckets);
    const end = first + Math.floor(((bucket + 1) * count) / buckets) - 1;
    let low = start;
    let high = start;
    let gap = -1;
    for (let at = start; at <= end; at++) {
      const value = values[at]!;
      if (Number.isNaN(value)) gap = at;
      else {
        if (!(values[low]! <= value)) low = at;
        if (!(values[high]! >= value)) high = at;
      }
    }
    kept.push(...[...new Set([start, low, high, end, ...(gap >= 0 ? [gap] : [])])].sort((one, other) => one - other));
  }
  return kept;
}

/** First and last index of the samples within two times, one more at either side; an empty range has last < first. */
export function within(times: Float64Array, from: number, to: number): [number, number] {
  const first = lowerBound(times, from);
  const last = lowerBound(times, to);
  return [Math.max(first - 1, 0), Math.min(last, times.length - 1)];
}

function lowerBound(times: Float64Array, wanted: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
