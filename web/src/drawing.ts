// What a line needs to be drawn: which samples are there, and the range of an axis.

/**
 * A column with null where nothing was recorded. uPlot knows null as a gap; a NaN would be a value to it, and with one at an end of a column no range
 * of an axis can be found.
 */
export function present(column: Float64Array): (number | null)[] {
  return Array.from(column, (value) => (Number.isNaN(value) ? null : value));
}

/** Indices of the values with a gap at both sides, which no line can show; null if there are none. */
export function alone(column: ArrayLike<number | null | undefined>): number[] | null {
  const found: number[] = [];
  const there = (at: number) => column[at] !== null && column[at] !== undefined;
  for (let at = 0; at < column.length; at++) if (there(at) && !there(at - 1) && !there(at + 1)) found.push(at);
  return found.length > 0 ? found : null;
}

/** Room below zero, as a share of the axis, for a line that is zero all the time: on the edge it could not be seen. */
const BELOW = 0.03;

/** Whether a line is zero all the time. */
export function isZero(column: ArrayLike<number | null | undefined>): boolean {
  const values = Array.from(column).filter((value) => value !== null && value !== undefined && !Number.isNaN(value));
  return values.length > 0 && values.every((value) => value === 0);
}

/**
 * An axis from zero to the largest value, or down to the smallest if that is negative, with room at the ends; to 1 without values.
 * With `zero`, a line that is zero all the time, there is a little room below zero.
 */
export function padded(low: number | null, high: number | null, zero = false): [number, number] {
  const [bottom, top] = [Math.min(low ?? 0, 0), Math.max(high ?? 0, 0)];
  if (!(top > bottom)) return [zero ? -BELOW : 0, 1];
  const room = 0.05 * (top - bottom);
  const below = zero ? -BELOW * top : 0;
  return [bottom < 0 ? bottom - room : below, top > 0 ? top + room : zero ? room : 0];
}

/** The range of sorted columns with a little room, without zero where that is far away; from 0 to 1 without values. */
export function extent(sorted: readonly Float64Array[]): [number, number] {
  const there = sorted.filter((column) => column.length > 0);
  if (there.length === 0) return [0, 1];
  const low = Math.min(...there.map((column) => column[0]!));
  const high = Math.max(...there.map((column) => column[column.length - 1]!));
  const room = 0.03 * (high - low) || Math.abs(high) * 0.05 || 0.5;
  // an axis that nearly begins at zero begins there
  const bottom = low >= 0 && low - room < 0.25 * (high - low) ? 0 : low - room;
  return [bottom, high + room];
}

/** A label beside a mark. */
export interface MarkLabel {
  /** The middle of the upright label. */
  readonly x: number;
  readonly words: string;
}

/**
 * Labels to the right of marks at ascending `places`, each `wide`; to the left of a mark that is too near to the `end`. Of marks
 * that are too near to each other the first one has a label, with the number of the others: `link down +2`.
 */
export function labelsOf(places: readonly number[], words: readonly string[], wide: number, end: number): MarkLabel[] {
  const found: { x: number; words: string; more: number }[] = [];
  let from = -Infinity;
  places.forEach((place, index) => {
    const last = found[found.length - 1];
    const x = place + wide > end ? place - wide / 2 : place + wide / 2;
    if (last && x - wide / 2 < from) last.more++;
    else {
      found.push({ x, words: words[index]!, more: 0 });
      from = x + wide / 2;
    }
  });
  return found.map(({ x, words, more }) => ({ x, words: more > 0 ? `${words} +${more}` : words }));
}
