import { expect, test } from "vitest";
import { pdf } from "../src/pdf";
import { scene, svg } from "../src/scene";

const drawing = scene({
  title: "Rate",
  xLabel: "time (s)",
  yLabel: "rate (Mbit/s)",
  x: [0, 10],
  y: [0, 5],
  lines: [{ label: "a", colour: "#3878c7", runs: [[0, 1, 5, 4, 10, 2]] }, { label: "b (1)", colour: "#dd7a30", runs: [[0, 2, 4, 2], [6, 2, 10, 3]] }],
  marks: [[5, "l1 down"]],
  shade: [0, 2],
});

test("the table of a PDF's objects points at each of them", () => {
  const text = String.fromCharCode(...pdf(drawing));
  const start = Number(/startxref\n(\d+)/.exec(text)![1]);
  expect(text.slice(start, start + 4)).toBe("xref");
  const places = [...text.slice(start).matchAll(/^(\d{10}) 00000 n/gm)].map((found) => Number(found[1]));
  places.forEach((place, index) => expect(text.slice(place)).toMatch(new RegExp(`^${index + 1} 0 obj`)));
  const length = Number(/\/Length (\d+)/.exec(text)![1]);
  expect(text.indexOf("\nendstream") - (text.indexOf("stream\n") + 7)).toBe(length);
  expect(text).toContain("(b \\(1\\)) Tj");
});

test("the same chart gives the same bytes", () => {
  expect(pdf(drawing)).toEqual(pdf(drawing));
});

test("an SVG has explicit colours only, and a gap divides a line", () => {
  const text = svg(drawing);
  expect(text).not.toContain("var(");
  expect(text.match(/stroke="#dd7a30"/g)).toHaveLength(3);
});
