import { expect, test } from "vitest";
import { rowsOfLabels, scene, widthFor, widthOf } from "../src/scene";

test("labels that have room stay in one row", () => {
  expect(rowsOfLabels([[60, "fifo"], [160, "codel"]])).toEqual([["fifo"], ["codel"]]);
});

test("a label that is wider than the room is broken at spaces, and cut after the last row", () => {
  const [first, second, third] = rowsOfLabels([[60, "red, adaptive, packet = 1500 B"], [120, "pfifo_head_drop"], [180, "fq"]]);
  expect(first).toEqual(["red,", "adaptive,", "packet =", "1500 B"]);
  expect(third).toEqual(["fq"]);
  for (const row of [...first!, ...second!]) expect(row.length).toBeLessThanOrEqual(11);
  expect(rowsOfLabels([[60, "one two three four five six seven eight nine ten"], [100, "b"]])[0]!.at(-1)).toMatch(/…$/);
});

test("labels of copies of one flow can be told apart where there is little room", () => {
  const labels = Array.from({ length: 10 }, (_, index) => [20 * index, `download.${index + 1}`] as const);
  const rows = rowsOfLabels(labels, 260);
  expect(new Set(rows.map((row) => row.join(" "))).size).toBe(10);
});

test("a chart in a narrow place has its text within it, in the usual size", () => {
  const lines = [{ label: "reno", colour: "#000000", runs: [[0, 1, 100, 5]] }];
  const narrow = scene({ title: "", xLabel: "buffer (packets)", yLabel: "rate", x: [0, 100], y: [0, 5], lines, marks: [], shade: null }, widthFor(320));
  expect(narrow.width).toBeLessThan(320);
  // 9 points are 12 pixels in a place of any width
  for (const pixels of [320, 768, 1300]) expect(widthFor(pixels) * (96 / 72)).toBeCloseTo(pixels);
  for (const one of narrow.primitives) {
    if (one.kind !== "text" || one.turned) continue;
    const half = one.text.length * one.size * 0.27;
    expect(one.size).toBeGreaterThanOrEqual(9);
    if (one.anchor === "middle") expect(one.x + half).toBeLessThanOrEqual(narrow.width + 2);
  }
});

test("labels of a narrow chart that would be cut are turned, and keep their words", () => {
  const words = ["fifo", "pfifoheaddrop", "red, adaptive", "fq_codel", "cake"];
  const sketch = { title: "", xLabel: "queue", yLabel: "y", x: [0, 4] as const, y: [0, 1] as const, lines: [], marks: [], shade: null, xTicks: words.map((word, at) => [at, word] as const) };
  const texts = (width: number) => scene(sketch, width).primitives.flatMap((one) => (one.kind === "text" && words.includes(one.text) ? [one] : []));
  expect(texts(260).map((one) => [one.text, one.turned])).toEqual(words.map((word) => [word, true]));
  expect(texts(590).every((one) => !one.turned)).toBe(true);
  const drawn = scene(sketch, 260);
  const title = drawn.primitives.find((one) => one.kind === "text" && one.text === "queue");
  // the title of the axis is below the longest label, within the picture
  if (title?.kind !== "text") throw new Error("no title");
  expect(title.y).toBeGreaterThan(texts(260)[0]!.y + "pfifoheaddrop".length * 9 * 0.5);
  expect(title.y).toBeLessThan(drawn.height);
});

test("a label that is longer than a row of the legend is broken, not cut", () => {
  const label = "bottleneck.buffer=100packets: reno (mean of 10)";
  const lines = [label, "short"].map((one) => ({ label: one, colour: "#3878c7", runs: [[0, 0, 1, 1]] }));
  const drawn = scene({ title: "t", xLabel: "x", yLabel: "y", x: [0, 1], y: [0, 1], lines, marks: [], shade: null }, 240);
  const texts = drawn.primitives.flatMap((one) => (one.kind === "text" && one.anchor === "start" ? [one] : []));
  for (const one of texts) expect(one.x + widthOf(one.text, one.size)).toBeLessThanOrEqual(240);
  expect(texts.map((one) => one.text).join(" ").replace("= ", "=")).toContain(label);
});

test("labels of events are above the chart, where they hide no line", () => {
  const lines = [{ label: "reno", colour: "#3878c7", runs: [[0, 5, 10, 5]] }];
  const marks = [[2, "bottleneck 10 Mbit/s"], [9.9, "bottleneck down"]] as const;
  for (const width of [210, 590]) {
    const drawn = scene({ title: "t", xLabel: "x", yLabel: "y", x: [0, 10], y: [0, 5], lines, marks, shade: null }, width);
    const texts = drawn.primitives.flatMap((one) => (one.kind === "text" && one.text.startsWith("bottleneck") ? [one] : []));
    expect(texts.length).toBeGreaterThan(0);
    for (const one of texts) {
      expect(one.turned).toBe(false);
      expect(one.y).toBeLessThan(drawn.at(0, 5)[1]);
      expect(one.x + widthOf(one.text, one.size)).toBeLessThanOrEqual(width);
    }
  }
});
