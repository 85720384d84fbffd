import { expect, test } from "vitest";
import { rowsOfLabels } from "../src/scene";

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
