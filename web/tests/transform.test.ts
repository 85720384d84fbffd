import { expect, test } from "vitest";
import type { ChartData, Subject } from "../src/data";
import { number, ticks } from "../src/format";
import { csv } from "../src/save";
import { binned, distribution, grouped, largest, quantile, smoothed, thinned, within } from "../src/transform";

const column = (...values: number[]) => Float64Array.from(values);

test("a bin is the mean of its known samples, at the time of the last", () => {
  const { times, columns } = binned(column(1, 2, 3, 4, 5), [column(10, 20, NaN, 40, 50)], 2);
  expect([...times]).toEqual([2, 4, 5]);
  expect([...columns[0]!]).toEqual([15, 40, 50]);
});

test("a bin without a sample is a gap", () => {
  expect(binned(column(1, 2), [column(NaN, NaN)], 2).columns[0]![0]).toBeNaN();
});

test("a moving average covers the span before each sample and leaves gaps", () => {
  const average = smoothed(column(1, 2, 3, 4), column(4, 8, NaN, 2), 2);
  expect(average[0]).toBe(4);
  expect(average[1]).toBe(6);
  expect(average[2]).toBeNaN();
  expect(average[3]).toBe(2);
});

test("a group is the mean of the subjects that are on; a single subject stays itself", () => {
  const subject = (name: string, group: string | null): Subject => ({ name, label: name, colour: "#000000", group, quiet: false });
  const chart = { subjects: [subject("flow.a.1", "a"), subject("flow.a.2", "a"), subject("link.l", null)] } as unknown as ChartData;
  const lines = grouped(chart, [column(1, 3), column(NaN, 5), column(7, 8)]);
  expect(lines.map((line) => line.key)).toEqual(["group.a", "link.l"]);
  expect([...lines[0]!.values]).toEqual([1, 4]);
  expect(lines[0]!.label).toBe("a (mean of 2)");
});

test("quantiles are those of the empirical distribution", () => {
  const sorted = distribution(column(0, 1, 2, 3, 4), column(9, 4, NaN, 1, 3), 1, 4);
  expect([...sorted]).toEqual([1, 3, 4]);
  expect(quantile(sorted, 0.5)).toBe(3);
  expect(quantile(sorted, 0.99)).toBe(4);
  expect(quantile(column(), 0.5)).toBeNaN();
});

test("thinning keeps both extremes, in order, and gaps", () => {
  const values = Float64Array.from({ length: 10_000 }, (_, at) => Math.sin(at / 50));
  values[5_001] = 9;
  values[5_002] = -9;
  values[7_000] = NaN;
  const kept = thinned(values, 0, 9_999, 100);
  expect(kept.length).toBeLessThan(520);
  expect(kept).toEqual([...kept].sort((one, other) => one - other));
  expect(kept).toContain(5_001);
  expect(kept).toContain(5_002);
  expect(kept).toContain(7_000);
});

test("the visible range has one sample more at either side", () => {
  const times = column(0, 1, 2, 3, 4);
  expect(within(times, 1.5, 2.5)).toEqual([1, 3]);
  expect(within(times, 0, 4)).toEqual([0, 4]);
});

test("CSV has the recorded numbers in full and quotes names", () => {
  const chart = { subjects: [{ name: 'a"b,c' }, { name: "d" }], times: column(0.1, 0.2, 0.3), values: [column(1 / 3, NaN, 5), column(1, 2, 3)] } as unknown as ChartData;
  expect(csv(chart, 0.1, 0.2)).toBe(`time_s,"a""b,c",d\r\n0.1,0.3333333333333333,1\r\n0.2,,2\r\n`);
});

test("numbers have four significant digits", () => {
  expect(number(12345.678)).toBe("12\u202f346");
  expect(number(0.00123449)).toBe("0.001234");
  expect(number(-2.5)).toBe("−2.5");
  expect(number(NaN)).toBe("–");
});

test("ticks are round and cover the range", () => {
  expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(ticks(0, 23.7, 5)).toEqual([0, 5, 10, 15, 20]);
});

test("the largest lines are listed in their order, wherever they are", () => {
  const lines = Array.from({ length: 14 }, (_, at) => ({ key: `l${at + 1}`, label: "", colour: "", dash: [], values: column(at + 1, NaN, -at - 1) }));
  lines[1] = { ...lines[1]!, values: column(NaN, NaN, NaN) };
  lines[13] = { ...lines[13]!, values: column(-100, NaN, 100) };
  const keys = largest(lines, 12).map((line) => line.key);
  expect(keys).toEqual(["l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10", "l11", "l12", "l13", "l14"]);
  expect(largest(lines.slice(0, 12), 12).map((line) => line.key)).toContain("l2");
});

test("what a legend listed stays while the lines grow", () => {
  const grown = (step: number) => Array.from({ length: 20 }, (_, at) => ({ key: `l${at}`, label: "", colour: "", dash: [], values: column(1 + ((at * 7 + step * 5) % 20)) }));
  let before: ReadonlySet<string> = new Set();
  const seen = [0, 1, 2, 3].map((step) => {
    const keys = largest(grown(step), 12, before).map((line) => line.key);
    before = new Set(keys);
    return keys;
  });
  expect(seen[0]).toHaveLength(12);
  for (const keys of seen) expect(keys).toEqual(seen[0]);
  expect(largest(grown(1), 12).map((line) => line.key)).not.toEqual(seen[0]);
  // a line that is gone leaves its place to another
  const without = grown(3).filter((line) => line.key !== seen[0]![0]);
  expect(largest(without, 12, before)).toHaveLength(12);
});
