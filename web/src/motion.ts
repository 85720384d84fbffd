// What the picture of the network shows at a time: samples of series, and recorded packets on their links.

import type { ChartData, PageData, Packets } from "./data";

/** Index of the sample whose interval holds `at`: the first that ends at or after it. −1 without samples. */
export function sampleAt(times: Float64Array, at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, times.length - 1);
}

/** One series, by subject. */
export interface Track {
  readonly times: Float64Array;
  readonly columns: ReadonlyMap<string, Float64Array>;
  /** The highest value of all subjects. */
  readonly highest: number;
}

/** The series of this name; null if it was not recorded. */
export function track(data: PageData, name: string): Track | null {
  const chart = data.charts.find((one) => one.name === name);
  if (!chart) return null;
  const columns = new Map(chart.subjects.map((subject, at) => [subject.name, chart.values[at]!]));
  return { times: chart.times, columns, highest: highestOf(chart) };
}

function highestOf(chart: ChartData): number {
  let highest = 0;
  for (const column of chart.values) for (const value of column) if (value > highest) highest = value;
  return highest;
}

/** The value of a subject at a time; 0 where nothing was recorded. */
export function valueAt(track: Track | null, subject: string, at: number): number {
  const column = track?.columns.get(subject);
  if (!track || !column) return 0;
  const value = column[sampleAt(track.times, at)];
  return value === undefined || Number.isNaN(value) ? 0 : value;
}

/** The longest time that a packet is on its link. */
export function longest(packets: Packets): number {
  let most = 0;
  for (let index = 0; index < packets.atS.length; index++) most = Math.max(most, packets.atS[index]! - packets.sentS[index]!);
  return most;
}

/** Calls `on` with each packet that is on a link at `at` and the share of the way that it has gone, `off` with each that was dropped in the `flash`
 * seconds before. `most` is what [`longest`] says. */
export function packetsAt(
  packets: Packets,
  at: number,
  most: number,
  flash: number,
  on: (index: number, share: number) => void,
  off: (index: number, share: number) => void,
): void {
  const { atS, sentS, dropped } = packets;
  const count = atS.length;
  let index = count === 0 || atS[count - 1]! < at - flash ? count : sampleAt(atS, at - flash);
  for (; index < count && atS[index]! <= at + most; index++) {
    if (dropped[index] === 1) {
      const since = at - atS[index]!;
      if (since >= 0 && since <= flash) off(index, flash > 0 ? since / flash : 0);
    } else if (sentS[index]! <= at && at < atS[index]!) {
      const span = atS[index]! - sentS[index]!;
      on(index, span > 0 ? (at - sentS[index]!) / span : 1);
    }
  }
}

/** Whether a port is in a tree at a time: `changes` are the times at which it joins and leaves in turn. */
export function inTree(changes: readonly number[], at: number): boolean {
  return changes.filter((change) => change <= at).length % 2 === 1;
}

/** The entries of the `span` seconds before `at`, with the share of it that has passed. They are in order of time. */
export function recent<Entry extends { readonly at_s: number }>(entries: readonly Entry[], at: number, span: number): (readonly [Entry, number])[] {
  return entries.filter((entry) => entry.at_s <= at && at - entry.at_s < span).map((entry) => [entry, (at - entry.at_s) / span] as const);
}

/** Speeds of playback, in simulated seconds per second. */
export const SPEEDS = [0.0001, 0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100] as const;

/** The speed at which a span takes about 20 s. */
export function speedFor(spanS: number): number {
  return SPEEDS.find((speed) => speed * 20 >= spanS) ?? SPEEDS[SPEEDS.length - 1]!;
}
