// Fewer points for a chart on the screen: the minimum and maximum of each bucket of samples, for all lines at the same times.

import { within } from "./transform";

/** Samples of which minimum and maximum are known in advance. */
const BLOCK = 32;

/** Lines over the same times, with what a chart needs of them at any zoom. */
export class Envelope {
  private readonly blocks: ({ low: Float64Array; high: Float64Array } | undefined)[];

  constructor(
    readonly times: Float64Array,
    readonly columns: readonly Float64Array[],
  ) {
    this.blocks = columns.map(() => undefined);
  }

  /**
   * Times and columns between two times in about `buckets` buckets, each of which has two points, the minimum and the maximum; all samples if they
   * are not more. Only the columns that `wanted` names have values. Buckets do not depend on where the range begins, so that lines keep their shape
   * while they move.
   */
  within(from: number, to: number, buckets: number, wanted: (column: number) => boolean): { times: Float64Array; columns: Float64Array[] } {
    const [first, last] = within(this.times, from, to);
    const count = last - first + 1;
    const size = BLOCK * 2 ** Math.max(Math.ceil(Math.log2(count / (buckets * BLOCK))), 0);
    if (count <= 2 * buckets) {
      return { times: this.times.subarray(first, last + 1), columns: this.columns.map((column) => column.subarray(first, last + 1)) };
    }
    const step = count / buckets < BLOCK ? Math.ceil(count / buckets) : size;
    const start = Math.floor(first / step);
    const end = Math.floor(last / step);
    const times = new Float64Array(2 * (end - start + 1));
    for (let bucket = start; bucket <= end; bucket++) {
      const at = 2 * (bucket - start);
      times[at] = this.times[bucket * step]!;
      const next = Math.min((bucket + 1) * step, this.times.length - 1);
      times[at + 1] = (times[at]! + this.times[next]!) / 2;
    }
    const empty = new Float64Array(times.length).fill(NaN);
    return { times, columns: this.columns.map((_, index) => (wanted(index) ? this.extremes(index, step, start, end) : empty)) };
  }

  private extremes(index: number, step: number, start: number, end: number): Float64Array {
    const column = this.columns[index]!;
    const result = new Float64Array(2 * (end - start + 1));
    const whole = step % BLOCK === 0;
    const { low, high } = whole ? this.blocksOf(index) : { low: column, high: column };
    const parts = whole ? step / BLOCK : step;
    for (let bucket = start; bucket <= end; bucket++) {
      let least = Infinity;
      let most = -Infinity;
      const stop = Math.min((bucket + 1) * parts, low.length);
      for (let at = bucket * parts; at < stop; at++) {
        if (low[at]! < least) least = low[at]!;
        if (high[at]! > most) most = high[at]!;
      }
      const at = 2 * (bucket - start);
      result[at] = least === Infinity ? NaN : least;
      result[at + 1] = most === -Infinity ? NaN : most;
    }
    return result;
  }

  private blocksOf(index: number): { low: Float64Array; high: Float64Array } {
    const known = this.blocks[index];
    if (known) return known;
    const column = this.columns[index]!;
    const count = Math.ceil(column.length / BLOCK);
    const made = { low: new Float64Array(count), high: new Float64Array(count) };
    for (let block = 0; block < count; block++) {
      let least = Infinity;
      let most = -Infinity;
      const stop = Math.min((block + 1) * BLOCK, column.length);
      for (let at = block * BLOCK; at < stop; at++) {
        const value = column[at]!;
        if (value < least) least = value;
        if (value > most) most = value;
      }
      made.low[block] = least;
      made.high[block] = most;
    }
    this.blocks[index] = made;
    return made;
  }
}

/** Index of the sample nearest to a time; null without samples. */
export function nearest(times: Float64Array, at: number): number | null {
  if (times.length === 0) return null;
  const [first, last] = within(times, at, at);
  return at - times[first]! <= times[last]! - at ? first : last;
}
