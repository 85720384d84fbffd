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
  test("each is to the right of its mark, and of its neighbour's label", () => {
    expect(labelsOf([10, 40], ["down", "up"], 12, 100)).toEqual([{ x: 16, words: "down" }, { x: 46, words: "up" }]);
  });

  test("marks that are too near to have labels of their own are counted in that of the first", () => {
    expect(labelsOf([10, 12, 20, 30], ["rate", "loss", "down", "up"], 12, 100)).toEqual([{ x: 16, words: "rate +2" }, { x: 36, words: "up" }]);
  });

  test("at the right edge a label is to the left of its mark, unless another is there", () => {
    expect(labelsOf([95], ["up"], 12, 100)).toEqual([{ x: 89, words: "up" }]);
    expect(labelsOf([86, 95], ["down", "up"], 12, 100)).toEqual([{ x: 92, words: "down +1" }]);
  });
});
