import { expect, test } from "vitest";
import { meanWords } from "../src/format";
import { boxOf, gridCsv, hasBoxes, meanText, placeOf, sketchOf, type Grid, type Grids } from "../src/grids";
import { scene } from "../src/scene";

const chart: Grid = {
  limits: [0, 1],
  digits: 4,
  name: "flows.fairness",
  label: "fairness",
  python: "",
  lines: [
    { label: "reno", colour: "#3878c7", points: [[1, "1 Mbit/s", 0.5, 0.4, 0.6, 3, [0.4, 0.5, 0.6]], [100, "100 Mbit/s", 0.9, null, null, 1, [0.9]]] },
    { label: "cubic, 2", colour: "#dd7a30", points: [[1, "1 Mbit/s", 0.7, 0.7, 0.7, 3, []]] },
  ],
};
const data: Grids = { format: 5, title: "t", x: { label: "rate (Mbit/s)", key: "rate", numeric: true, joined: true, logarithmic: true }, others: "scheme", boxes: false, charts: [chart] };

test("a logarithmic axis has the values of the key as ticks", () => {
  const sketch = sketchOf(data, chart, () => true);
  expect(sketch.xTicks).toEqual([[0, "1"], [2, "100"]]);
  expect(sketch.lines[0]!.runs).toEqual([[0, 0.5, 2, 0.9]]);
  expect(sketch.lines[0]!.bars).toEqual([[0, 0.4, 0.6]]);
  expect(sketch.lines[1]!.bars).toEqual([]);
  expect(sketch.y[0]).toBe(0);
  expect(sketch.y[1]).toBeGreaterThan(0.9);
});

test("a hidden line is not drawn, and words are side by side", () => {
  expect(sketchOf(data, chart, (label) => label === "reno").lines.map((line) => line.label)).toEqual(["reno"]);
  const words: Grids = { ...data, x: { ...data.x, numeric: false, joined: false, logarithmic: false } };
  expect([0, 1].map((line) => placeOf(words, 1, line, 2))).toEqual([0.94, 1.06]);
  expect(sketchOf(words, chart, () => true).lines[0]!.runs).toEqual([]);
});

test("CSV has a row per point", () => {
  expect(gridCsv(data, chart).split("\r\n")).toEqual(["rate,scheme,fairness,low,high,n", "1 Mbit/s,reno,0.5,0.4,0.6,3", "100 Mbit/s,reno,0.9,,,1", '1 Mbit/s,"cubic, 2",0.7,0.7,0.7,3', ""]);
});

test("an interval does not set the axis, and ends at its edge with an arrow", () => {
  const wide: Grid = { ...chart, lines: [{ label: "", colour: "#3878c7", points: [[1, "1 Mbit/s", 8.65, -80, 97.3, 2, [6.8, 10.5]], [100, "100 Mbit/s", 9, 8.9, 9.1, 5, [8.8, 9.2]]] }] };
  const sketch = sketchOf(data, wide, () => true);
  expect(sketch.y[0]).toBe(0);
  expect(sketch.y[1]).toBeLessThan(11.1);
  const drawn = scene(sketch);
  const [top, bottom] = [drawn.at(0, sketch.y[1])[1], drawn.at(0, sketch.y[0])[1]];
  const own = drawn.primitives.filter((one) => one.kind === "line" && one.colour === "#3878c7");
  const levels = own.flatMap((one) => (one.kind === "line" ? one.points.filter((_, at) => at % 2 === 1) : []));
  expect(Math.min(...levels)).toBeCloseTo(top);
  expect(Math.max(...levels)).toBeCloseTo(bottom);
  // a line of the means, two bars with two ends each, of which two are arrows
  expect(own.map((one) => (one.kind === "line" ? one.points.length : 0)).filter((length) => length === 6)).toHaveLength(2);
});

test("a mean and its interval have the same decimals, and never leave what its number can be", () => {
  expect(meanText(chart, chart.lines[0]!.points[0]!)).toBe("0.5 ± 0.1");
  expect(meanText(chart, chart.lines[0]!.points[1]!)).toBe("0.9");
  expect(meanText(chart, [1, "1", 0.98, 0.9123, 1, 5, []])).toBe("0.980 [0.912, 1.000]");
  // three digits are known of a percentile
  const percentile: Grid = { ...chart, name: "flows.a.queueing_delay_p95", digits: 3 };
  expect(meanText(percentile, [1, "1", 1234.5, null, null, 1, []])).toBe("1\u202f230");
  expect(meanText(percentile, [1, "1", 17.183, null, null, 1, []])).toBe("17.2");
  expect(meanText(percentile, [1, "1", 17.183, 17.1812, 17.1848, 5, []])).toBe("17.2");
  expect(meanText(percentile, [1, "1", 17.183, 17.02, 17.346, 5, []])).toBe("17.2 ± 0.2");
  // the cases of test_stats.py of the package
  const cases: [number, number, number, number, string][] = [
    [20, 19.97, 20.03, 3, "20.00 ± 0.03"],
    [1023.2, 723.2, 1323.2, 4, "1\u202f020 ± 300"],
    [0.141, 0, 0.321, 3, "0.14 [0.00, 0.32]"],
    [1.045, 0, 2.11, 4, "1.0 [0.0, 2.1]"],
    [-0.24, -1.24, 0.76, 3, "−0.2 ± 1.0"],
    [0.5, 0.499_999_999, 0.500_000_001, 4, "0.500000 ± 0.000001"],
    [2.34e-5, 2.22e-5, 2.46e-5, 4, "(2.34 ± 0.12)e−5"],
    [1, 0.999_999_99, 1, 4, "1.00000 [0.99999, 1.00000]"],
    [0.3, 0.3, 0.3, 4, "0.3 ± 0.0"],
  ];
  for (const [mean, low, high, digits, text] of cases) expect(meanWords(mean, low, high, digits)).toBe(text);
});

test("a box has quartiles, whiskers within 1.5 interquartile ranges, and what is beyond", () => {
  // quartiles of 1 2 3 4 20 by linear interpolation: 2, 3, 4; whiskers reach from -1 to 7
  expect(boxOf([1, 2, 3, 4, 20])).toEqual({ low: 2, median: 3, high: 4, whiskers: [1, 4], beyond: [20] });
  expect(boxOf([1, 2])).toBeNull();
  expect(boxOf([5, 5, 5, 5])).toEqual({ low: 5, median: 5, high: 5, whiskers: [5, 5], beyond: [] });
});

test("box plots take the place of means where there are enough values", () => {
  expect(hasBoxes(chart)).toBe(true);
  const [reno, cubic] = sketchOf(data, chart, () => true, true).lines;
  expect(reno!.boxes!.map(([at, box, aside]) => [at, box.median, aside])).toEqual([[0, 0.5, -0.5]]);
  expect(reno!.points).toEqual([[2, 0.9]]);
  expect(cubic!.points).toEqual([[0, 0.7]]);
  expect(gridCsv(data, chart, true).split("\r\n")[1]).toBe("1 Mbit/s,reno,0.5,0.4,0.6,3,0.4,0.45,0.5,0.55,0.6");
});
