import { expect, test } from "vitest";
import { gridCsv, placeOf, sketchOf, type Grid, type Grids } from "../src/grids";

const chart: Grid = {
  name: "flows.fairness",
  label: "fairness",
  python: "",
  lines: [
    { label: "reno", colour: "#3878c7", points: [[1, "1 Mbit/s", 0.5, 0.1, 3], [100, "100 Mbit/s", 0.9, null, 1]] },
    { label: "cubic, 2", colour: "#dd7a30", points: [[1, "1 Mbit/s", 0.7, 0, 3]] },
  ],
};
const data: Grids = { format: 2, title: "t", x: { label: "rate (Mbit/s)", key: "rate", numeric: true, joined: true, logarithmic: true }, others: "scheme", charts: [chart] };

test("a logarithmic axis has the values of the key as ticks", () => {
  const sketch = sketchOf(data, chart, () => true);
  expect(sketch.xTicks).toEqual([[0, "1"], [2, "100"]]);
  expect(sketch.lines[0]!.runs).toEqual([[0, 0.5, 2, 0.9]]);
  expect(sketch.lines[0]!.bars).toEqual([[0, 0.4, 0.6]]);
  expect(sketch.lines[1]!.bars).toEqual([]);
  expect(sketch.y[0]).toBeLessThan(0.4);
  expect(sketch.y[1]).toBeGreaterThan(0.9);
});

test("a hidden line is not drawn, and words are side by side", () => {
  expect(sketchOf(data, chart, (label) => label === "reno").lines.map((line) => line.label)).toEqual(["reno"]);
  const words: Grids = { ...data, x: { ...data.x, numeric: false, joined: false, logarithmic: false } };
  expect([0, 1].map((line) => placeOf(words, 1, line, 2))).toEqual([0.94, 1.06]);
  expect(sketchOf(words, chart, () => true).lines[0]!.runs).toEqual([]);
});

test("CSV has a row per point", () => {
  expect(gridCsv(data, chart).split("\r\n")).toEqual(["rate,scheme,fairness,ci95,n", "1 Mbit/s,reno,0.5,0.1,3", "100 Mbit/s,reno,0.9,,1", '1 Mbit/s,"cubic, 2",0.7,0,3', ""]);
});
