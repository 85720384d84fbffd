import { describe, expect, test } from "vitest";
import type { PageData, Packets } from "../src/data";
import { inTree, longest, packetsAt, recent, sampleAt, speedFor, track, valueAt } from "../src/motion";

const times = Float64Array.from([1, 2, 3]);

describe("samples", () => {
  test("an instant belongs to the interval that ends at or after it", () => {
    expect([0, 1, 1.5, 2, 3, 9].map((at) => sampleAt(times, at))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(sampleAt(new Float64Array(), 1)).toBe(-1);
  });

  test("a subject has its value, and zero where nothing was recorded", () => {
    const chart = {
      ...{ name: "backlog", title: "Backlog", unit: "packets", factor: 1, times, python: "" },
      subjects: [{ name: "link.a", label: "a", colour: "#000", group: null, quiet: false }],
      values: [Float64Array.from([4, Number.NaN, 6])],
    };
    const data: PageData = { title: "", warmupS: 0, endS: 3, marks: [], charts: [chart], network: { ports: [], flows: [], trees: [], orders: [], packets: null, window: null } };
    const found = track(data, "backlog");
    expect(found?.highest).toBe(6);
    expect([0.5, 2, 3].map((at) => valueAt(found, "link.a", at))).toEqual([4, 0, 6]);
    expect(valueAt(found, "link.b", 1)).toBe(0);
    expect(track(data, "drops")).toBeNull();
  });
});

/** Three packets of 10 ms on a link, one every 4 ms, and a drop at 12 ms. */
const packets: Packets = {
  atS: Float64Array.from([0.01, 0.012, 0.014, 0.018]),
  sentS: Float64Array.from([0, 0.002, 0.004, 0.008]),
  port: Float64Array.from([0, 1, 0, 0]),
  flow: Float64Array.from([0, 0, 0, 0]),
  bytes: Float64Array.from([1500, 1500, 1500, 1500]),
  dropped: Float64Array.from([0, 1, 0, 0]),
  marked: Float64Array.from([0, 0, 0, 0]),
};

function seen(at: number, flash = 0.002): { on: [number, number][]; off: [number, number][] } {
  const on: [number, number][] = [];
  const off: [number, number][] = [];
  const rounded = (share: number) => Math.round(share * 1000) / 1000;
  packetsAt(packets, at, longest(packets), flash, (index, share) => on.push([index, rounded(share)]), (index, share) => off.push([index, rounded(share)]));
  return { on, off };
}

describe("packets", () => {
  test("each is on its link from its departure to its arrival", () => {
    expect(seen(0.009).on).toEqual([[0, 0.9], [2, 0.5], [3, 0.1]]);
    expect(seen(0.014).on).toEqual([[3, 0.6]]);
    expect(seen(0.02)).toEqual({ on: [], off: [] });
  });

  test("a drop is shown for a while, and is on no link", () => {
    expect(seen(0.0119).off).toEqual([]);
    expect(seen(0.013).off).toEqual([[1, 0.5]]);
    expect(seen(0.0145).off).toEqual([]);
    expect(seen(0.011).on.map(([index]) => index)).not.toContain(1);
  });
});

test("a span takes about 20 s at first", () => {
  expect([0.005, 0.1, 20, 100, 1e6].map(speedFor)).toEqual([0.001, 0.01, 1, 5, 100]);
});

describe("moments", () => {
  test("a port is in a tree from each join until the next leave", () => {
    expect([0.5, 1, 2.9, 3, 4.5, 9].map((at) => inTree([1, 3, 4], at))).toEqual([false, true, true, false, true, true]);
  });

  test("an order is shown from its time on, and fades", () => {
    const orders = [{ at_s: 1 }, { at_s: 2 }];
    expect(recent(orders, 0.9, 2)).toEqual([]);
    expect(recent(orders, 2.5, 2)).toEqual([[orders[0], 0.75], [orders[1], 0.25]]);
    expect(recent(orders, 3, 2)).toEqual([[orders[1], 0.5]]);
  });
});
