import { expect, test } from "vitest";
import { roundedUp } from "../src/format";

test.each([
  [0, 0],
  [0.03, 0.03],
  [0.11, 0.15],
  [1, 1],
  [3.2, 4],
  [9.999, 10],
  [43, 50],
  [60.000_000_1, 60],
  [6100, 8000],
])("an axis with data until %f ends at %f", (last, end) => {
  expect(roundedUp(last)).toBe(end);
});

test("the data fill two thirds of an axis or more", () => {
  for (let last = 0.001; last < 1000; last *= 1.01) {
    expect(roundedUp(last)).toBeGreaterThanOrEqual(last * 0.999_999);
    expect(last / roundedUp(last)).toBeGreaterThan(0.66);
  }
});
