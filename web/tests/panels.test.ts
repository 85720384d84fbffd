import { expect, test } from "vitest";
import { legendOf, panelScene, readingAt, type Panel, type PanelFigure, type Part } from "../src/panels";
import { widthOf } from "../src/scene";

const none = new Float64Array();
const part = (more: Partial<Part>): Part => ({ kind: "line", label: "", colour: "#3878c7", width: 1, dash: [], marker: true, opacity: 1, along: "x", x: none, y: none, low: none, high: none, ...more });
const of = (...values: number[]) => Float64Array.from(values);

/** Means of 10 and 400 ms on a logarithmic axis; the interval of the second begins below zero and ends above the axis. */
const panel: Panel = {
  title: "delay",
  place: [0, 0, 1, 1],
  x: { label: "consumer", range: [0, 3], logarithmic: false, ticks: null, words: false },
  y: { label: "ms", range: [5, 800], logarithmic: true, ticks: null, words: false },
  parts: [part({ label: "C", x: of(1, 2), y: of(10, 400) }), part({ kind: "error", label: "C", colour: "#1d2733", x: of(1, 2), low: of(8, -100), high: of(12, 900) })],
};
const figure: PanelFigure = { id: "f", title: "f", python: "", panels: [panel] };

test("an interval that begins below zero reaches the bottom of a logarithmic axis, with arrows and without NaN", () => {
  const drawn = panelScene(figure, panel, panel.x.range, () => true, 400);
  const [, top, , bottom] = drawn.inner;
  const lines = drawn.primitives.flatMap((one) => (one.kind === "line" ? [one] : []));
  expect(lines.flatMap((one) => [...one.points]).some(Number.isNaN)).toBe(false);
  const left = drawn.at(2, 400)[0];
  expect(lines.some(({ points }) => points.length === 4 && points[0] === left && points[1] === bottom && points[2] === left && points[3] === top)).toBe(true);
  // its ends are arrows: three points each, of which the middle one is at the edge
  expect(lines.filter(({ points, width }) => points.length === 6 && width === 1).map(({ points }) => points[3])).toEqual([bottom, top]);
});

test("a value under the pointer has both ends of its interval", () => {
  const drawn = panelScene(figure, panel, panel.x.range, () => true, 400);
  const [x, y] = drawn.at(2, 400);
  expect(readingAt(figure, panel, drawn, x, y, 10, () => true)?.interval).toEqual([-100, 900]);
});

/** Bars with these words below them, in a panel of this width, and the texts below its axis. */
function below(names: readonly string[], width: number) {
  const last = names.length - 0.4;
  const bars: Panel = {
    ...panel,
    x: { label: "flow", range: [-0.6, last], logarithmic: false, ticks: names.map((name, at) => [at, name] as const), words: true },
    parts: [part({ kind: "bar", x: of(...names.keys()), low: of(...names.map(() => 0)), y: of(...names.map(() => 100)) })],
  };
  const drawn = panelScene(figure, bars, bars.x.range, () => true, width);
  const bottom = drawn.inner[3];
  const texts = drawn.primitives.flatMap((one) => (one.kind === "text" && one.y > bottom + 4.5 && one.text !== "flow" ? [one] : []));
  return { drawn, texts };
}

const PAGE = ["download", ...Array.from({ length: 6 }, (_, at) => `page.${at + 1}`)];

test("words below bars stand where they have room, and are turned where they would be cut", () => {
  const wide = below(PAGE, 900).texts;
  expect(wide.map((one) => [one.text, one.turned])).toEqual(PAGE.map((name) => [name, false]));
  const narrow = below(PAGE, 280);
  expect(narrow.texts.map((one) => [one.text, one.turned])).toEqual(PAGE.map((name) => [name, true]));
  // the panel keeps its height, and the words end above the title of the axis
  expect(narrow.drawn.inner[3] - narrow.drawn.inner[1]).toBe(170 - 24 - 46);
  const longest = Math.max(...PAGE.map((name) => name.length)) * 10.5 * 0.54;
  expect(narrow.drawn.inner[3] + 7 + longest).toBeLessThan(narrow.drawn.height - 12 - 8);
});

test("turned words that would run into each other leave some out", () => {
  const many = below(Array.from({ length: 40 }, (_, at) => `flow.${at}`), 280).texts;
  const places = many.map((one) => one.x);
  expect(many.length).toBeGreaterThan(10);
  expect(Math.min(...places.slice(1).map((place, at) => place - places[at]!))).toBeGreaterThan(10.5);
});

test("dotted and dashed lines differ in the panel and in the legend, as in the figure", () => {
  const dashes = { solid: [], dotted: [1, 1.65], dashed: [3.7, 1.6] };
  const parts = Object.entries(dashes).map(([label, dash], at) => part({ label, dash, marker: false, x: of(0, 3), y: of(10 + at, 10 + at) }));
  const styled: Panel = { ...panel, parts: [...parts, part({ kind: "rule", dash: dashes.dotted, x: of(NaN), y: of(50) })] };
  const legend = legendOf({ ...figure, panels: [styled] });
  expect(new Set(legend.map(({ dash }) => dash.join(" "))).size).toBe(3);
  const drawn = panelScene({ ...figure, panels: [styled] }, styled, styled.x.range, () => true, 400).primitives;
  const lines = drawn.flatMap((one) => (one.kind === "line" && one.points.length === 4 && one.width === 1 ? [one.dash] : []));
  expect(lines).toEqual([...legend.map(({ dash }) => dash), legend[1]!.dash]);
});

test("the number at the end of an axis is within the panel, and the axis is below a line that is zero", () => {
  const flat: Panel = { ...panel, x: { ...panel.x, range: [0, 40_000] }, y: { ...panel.y, range: [0, 10], logarithmic: false }, parts: [part({ label: "zero", x: of(0, 40_000), y: of(0, 0) })] };
  for (const width of [200, 300, 480, 960]) {
    const drawn = panelScene({ ...figure, panels: [flat] }, flat, flat.x.range, () => true, width);
    const numbers = drawn.primitives.flatMap((one) => (one.kind === "text" && one.anchor === "middle" && !one.turned ? [one] : []));
    expect(numbers.length).toBeGreaterThan(2);
    for (const one of numbers) expect(one.x + widthOf(one.text, one.size) / 2).toBeLessThanOrEqual(width);
    const lines = drawn.primitives.flatMap((one) => (one.kind === "line" ? [one] : []));
    const axis = lines.findIndex(({ points, colour }) => points.length === 6 && colour === "#1d2733");
    expect(lines.findIndex(({ points, colour }) => colour === "#3878c7" && points[1] === drawn.inner[3])).toBeGreaterThan(axis);
  }
});
