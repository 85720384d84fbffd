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

/** A label above a mark. */
export interface MarkLabel {
  /** Where the label begins. */
  readonly x: number;
  readonly words: string;
}

/** Space between two labels of marks, in widths of a letter. */
const MARK_GAP = 2;

/**
 * Labels in a row above a chart, each from its mark at ascending `places` to the right, or back from `range`'s end where there is no more room: within
 * the chart they would hide what follows the event. `widthOf` measures words. Of marks whose labels would run into each other the first one has a
 * label, with the number of the others: `link down +2`.
 */
export function labelsOf(places: readonly number[], words: readonly string[], widthOf: (words: string) => number, range: readonly [number, number]): MarkLabel[] {
  const [start, end] = range;
  const gap = MARK_GAP * widthOf("n");
  const begin = (place: number, text: string) => Math.max(Math.min(place, end - widthOf(text)), start);
  const text = (words: string, more: number) => (more > 0 ? `${words} +${more}` : words);
  const found: { place: number; words: string; more: number }[] = [];
  places.forEach((place, index) => {
    const last = found[found.length - 1];
    const before = last ? begin(last.place, text(last.words, last.more)) + widthOf(text(last.words, last.more)) + gap : -Infinity;
    if (last && begin(place, words[index]!) < before) last.more++;
    else found.push({ place, words: words[index]!, more: 0 });
  });
  // a sign of more that was added later can have come to the next label
  for (let index = found.length - 1; index > 0; index--) {
    const [one, next] = [found[index - 1]!, found[index]!];
    if (begin(one.place, text(one.words, one.more)) + widthOf(text(one.words, one.more)) + gap <= begin(next.place, text(next.words, next.more))) continue;
    one.more += next.more + 1;
    found.splice(index, 1);
  }
  return found.map((one) => ({ x: begin(one.place, text(one.words, one.more)), words: text(one.words, one.more) }));
}
