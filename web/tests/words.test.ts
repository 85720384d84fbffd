import { describe, expect, test } from "vitest";
import type { Activity } from "../studio/live.svelte";
import { marked, progress } from "../studio/words";

const run: Activity = {
  id: 1,
  kind: "run",
  title: "",
  command: "",
  file: "",
  folder: "",
  state: "running",
  progress: { share: 0.1, now_s: 10, duration_s: 100, speed: 2, left_s: 45 },
  message: "",
  hint: null,
  note: "",
  passed: null,
  page: false,
};

describe("how far an activity is", () => {
  test("what runs has a speed and a remaining time", () => {
    expect(progress(run)).toBe("10 of 100 s · 2 × real time · 45 s left");
  });

  test("what is being stopped has neither", () => {
    expect(progress({ ...run, state: "stopping" })).toBe("10 of 100 s · stopping");
    const sweep = { share: 0.5, done: 2, total: 4, left_s: 45 };
    expect(progress({ ...run, kind: "sweep", state: "stopping", progress: sweep })).toBe("2 of 4 runs · stopping");
  });
});

test.each([
  ["no code", [["no code", false]]],
  ["`a` and `b.c` end", [["a", true], [" and ", false], ["b.c", true], [" end", false]]],
  ["one ` alone", [["one ` alone", false]]],
  ["`a` and ` alone", [["a", true], [" and ` alone", false]]],
  ["", []],
])("backticks mark code: %s", (text, parts) => {
  expect(marked(text)).toEqual(parts);
});
