import { expect, test } from "vitest";
import { panelScene, readingAt, type Panel, type PanelFigure, type Part } from "../src/panels";

const none = new Float64Array();
const part = (more: Partial<Part>): Part => ({ kind: "line", label: "", colour: "#3878c7", width: 1, dash: false, marker: true, opacity: 1, along: "x", x: none, y: none, low: none, high: none, ...more });
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
