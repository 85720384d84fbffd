import { expect, test } from "vitest";
import { Envelope, nearest } from "../src/envelope";

const count = 10_000;
const times = Float64Array.from({ length: count }, (_, at) => at / 10);
const wave = Float64Array.from({ length: count }, (_, at) => Math.sin(at / 50) + (at === 7777 ? 5 : 0));
const holes = wave.map((value, at) => (at >= 2000 && at < 4000 ? NaN : value));
const envelope = new Envelope(times, [wave, holes]);
const all = () => true;

test("a bucket has the minimum and the maximum of its samples", () => {
  for (const buckets of [50, 300, 1000]) {
    const { times: at, columns } = envelope.within(0, 1000, buckets, all);
    expect(at.length).toBeLessThanOrEqual(2 * buckets + 4);
    expect(Math.max(...columns[0]!)).toBe(Math.max(...wave));
    expect(Math.min(...columns[0]!)).toBe(Math.min(...wave));
    expect([...at].every((one, index) => index === 0 || one > at[index - 1]!)).toBe(true);
  }
});

test("a gap stays a gap, and a column that is not wanted has none", () => {
  const { times: at, columns } = envelope.within(0, 1000, 300, (index) => index === 1);
  const inside = [...at.keys()].filter((index) => at[index]! > 204 && at[index]! < 396);
  expect(inside.length).toBeGreaterThan(20);
  expect(inside.every((index) => Number.isNaN(columns[1]![index]))).toBe(true);
  expect(columns[0]!.every(Number.isNaN)).toBe(true);
});

test("few samples are shown as they are", () => {
  const { times: at, columns } = envelope.within(100, 101, 300, all);
  expect([at[0], at[at.length - 1]]).toEqual([99.9, 101]);
  expect([...columns[0]!]).toEqual([...wave.subarray(999, 1011)]);
});

test("a bucket is the same wherever the visible time begins", () => {
  const one = envelope.within(100, 500, 100, all);
  const other = envelope.within(117, 517, 100, all);
  const shared = new Map([...one.times].map((time, index) => [time, one.columns[0]![index]]));
  const common = [...other.times].filter((time) => shared.has(time));
  expect(common.length).toBeGreaterThan(50);
  expect(common.every((time) => shared.get(time) === other.columns[0]![other.times.indexOf(time)])).toBe(true);
});

test("the nearest sample", () => {
  expect([-5, 0.04, 0.06, 5000].map((at) => nearest(times, at))).toEqual([0, 0, 1, count - 1]);
  expect(nearest(new Float64Array(), 1)).toBeNull();
});
