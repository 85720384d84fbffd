import { describe, expect, test } from "vitest";
import { alone, extent, isZero, labelsOf, padded, present } from "../src/drawing";
import { Envelope } from "../src/envelope";

const NONE = NaN;

describe("what a line needs to be drawn", () => {
  test("nothing recorded is null, and values stay", () => {
    expect(present(Float64Array.of(NONE, 0, 2, NONE))).toEqual([null, 0, 2, null]);
  });

  test.each([
    ["starts late", [NONE, NONE, 3, 5, 4], [3, 5]],
    ["stops early", [3, 5, 4, NONE, NONE], [3, 5]],
    ["has a gap", [1, NONE, 7, NONE, 2], [1, 7]],
    ["has one value", [NONE, NONE, 6, NONE, NONE], [6, 6]],
    ["has none", [NONE, NONE, NONE, NONE, NONE], [Infinity, -Infinity]],
  ])("the range of a series that %s", (_, values, range) => {
    const times = Float64Array.of(0, 1, 2, 3, 4);
    for (const buckets of [100, 2]) {
      const { columns } = new Envelope(times, [Float64Array.from(values)]).within(0, 4, buckets, () => true);
      const column = present(columns[0]!);
      expect(column.some((value) => Number.isNaN(value))).toBe(false);
      const known = column.filter((value) => value !== null);
      expect([Math.min(...known), Math.max(...known)]).toEqual(range);
    }
  });

  test("values between two gaps are found", () => {
    expect(alone([null, 1, null, 2, 3, null, 4])).toEqual([1, 6]);
    expect(alone([1, 2, 3])).toBeNull();
    expect(alone([undefined, 5])).toEqual([1]);
  });

  test("an axis has every value, also negative ones", () => {
    expect(padded(2, 10)).toEqual([0, 10.5]);
    expect(padded(-10, 10)).toEqual([-11, 11]);
    expect(padded(-4, -2)[0]).toBeLessThan(-4);
    expect(padded(null, null)).toEqual([0, 1]);
    expect(padded(0, 0)).toEqual([0, 1]);
    // a line on the edge of the axis could not be seen
    expect(padded(0, 0, true)).toEqual([-0.03, 1]);
    expect(padded(0, 10, true)).toEqual([-0.3, 10.5]);
    expect(padded(-10, 0, true)).toEqual([-10.5, 0.5]);
    expect([[NONE, 0, 0], [0, 1], [NONE], [null, 0]].map(isZero)).toEqual([true, false, false, true]);
  });

  test("the axis of a distribution begins where the values do", () => {
    const [low, high] = extent([Float64Array.of(100, 101, 104), new Float64Array()]);
    expect(low).toBeGreaterThan(99);
    expect(low).toBeLessThan(100);
    expect(high).toBeGreaterThan(104);
    expect(extent([Float64Array.of(0.1, 9)])[0]).toBe(0);
    expect(extent([])).toEqual([0, 1]);
  });
});


describe("labels of marks", () => {
  const widthOf = (words: string) => 5 * words.length;
  const labels = (places: number[], words: string[], range: [number, number] = [0, 200]) => labelsOf(places, words, widthOf, range);

  test("each begins at its mark", () => {
    expect(labels([10, 60], ["down", "up"])).toEqual([{ x: 10, words: "down" }, { x: 60, words: "up" }]);
  });

  test("marks that are too near to have labels of their own are counted in that of the first", () => {
    expect(labels([10, 12, 20, 80], ["rate", "loss", "down", "up"])).toEqual([{ x: 10, words: "rate +2" }, { x: 80, words: "up" }]);
  });

  test("at the right edge a label ends there, unless another is there", () => {
    expect(labels([195], ["up"])).toEqual([{ x: 190, words: "up" }]);
    expect(labels([170, 195], ["down", "up"])).toEqual([{ x: 165, words: "down +1" }]);
  });

  test("no two labels run into each other or leave the chart, wherever the marks are", () => {
    let state = 7;
    const random = () => (state = (16807 * state) % 2147483647) / 2147483647;
    for (let round = 0; round < 300; round++) {
      const places = Array.from({ length: 1 + Math.floor(12 * random()) }, () => 20 + 180 * random()).sort((one, other) => one - other);
      const words = places.map(() => "x".repeat(1 + Math.floor(14 * random())));
      const found = labels(places, words, [20, 200]);
      let end = 20;
      let counted = 0;
      for (const one of found) {
        expect(one.x).toBeGreaterThanOrEqual(end);
        end = one.x + widthOf(one.words);
        expect(end).toBeLessThanOrEqual(200 + 1e-9);
        counted += 1 + Number(/\+(\d+)$/.exec(one.words)?.[1] ?? 0);
      }
      expect(counted).toBe(places.length);
    }
  });
});
