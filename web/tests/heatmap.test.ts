import { describe, expect, test } from "vitest";
import type { Grid, GridPoint, Grids } from "../src/grids";
import { hasMap, mapScene, shade } from "../src/heatmap";

const point = (place: number, words: string, mean: number): GridPoint => [place, words, mean, null, null, 3, []];
const chart: Grid = {
  name: "flows.fairness",
  label: "fairness",
  limits: [0, 1],
  digits: 4,
  python: "",
  lines: [
    { label: "5 ms", colour: "#000000", points: [point(2, "2 bdp", 0.9), point(1, "1 bdp", 0.5)] },
    { label: "10 ms", colour: "#000000", points: [point(4, "4 bdp", 0.25), point(1, "1 bdp", 0.75)] },
  ],
};
const data: Grids = {
  format: 4,
  title: "",
  x: { label: "buffer (bdp)", key: "buffer", numeric: true, joined: true, logarithmic: false },
  others: "delay",
  boxes: false,
  charts: [chart],
};

describe("a heat map", () => {
  test("has a cell per value, a column per place in order, a row per line", () => {
    const map = mapScene(data, chart, "", 500);
    expect([map.columns, map.rows]).toEqual([3, 2]);
    expect(map.cells.map(({ column, row, point }) => [column, row, point[2]])).toEqual([[1, 0, 0.9], [0, 0, 0.5], [2, 1, 0.25], [0, 1, 0.75]]);
  });

  test("finds the cell under the pointer, and none where no run was", () => {
    const map = mapScene(data, chart, "", 500);
    for (const cell of map.cells) expect(map.cellAt(...map.at(cell.column, cell.row))).toBe(cell);
    expect(map.cellAt(...map.at(2, 0))).toBeNull();
    expect(map.cellAt(1, 1)).toBeNull();
  });

  test("is darker the higher the value", () => {
    const light = (colour: string) => [1, 3, 5].reduce((sum, at) => sum + parseInt(colour.slice(at, at + 2), 16), 0);
    const shades = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => light(shade(share)));
    expect(shades).toEqual([...shades].sort((one, other) => other - one));
    const map = mapScene(data, chart, "", 500);
    const [least, most] = [map.cells[2]!, map.cells[0]!];
    expect(light(least.colour)).toBeGreaterThan(light(most.colour));
  });

  test("stays within its width, also a narrow one", () => {
    for (const width of [230, 600]) {
      for (const one of mapScene(data, chart, "", width).primitives) {
        if (one.kind === "box") expect(one.x + one.width).toBeLessThanOrEqual(width);
        if (one.kind === "text" && one.anchor === "start") expect(one.x + one.text.length * one.size * 0.54).toBeLessThanOrEqual(width + 2);
      }
    }
  });

  test("needs two values of both keys", () => {
    expect(hasMap(chart)).toBe(true);
    expect(hasMap({ ...chart, lines: chart.lines.slice(0, 1) })).toBe(false);
  });
});
