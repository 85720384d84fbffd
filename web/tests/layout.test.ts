import { describe, expect, test } from "vitest";
import { Layout } from "../src/layout";

/** A chain a, c, b, d, drawn on a line in alphabetical order. */
function chain(): Layout {
  const places = new Map(["a", "b", "c", "d"].map((name, index) => [name, { x: 100 * index, y: 50 }]));
  return new Layout(places, [["a", "c"], ["c", "b"], ["b", "d"]], [400, 300]);
}

const places = (layout: Layout) => ["a", "b", "c", "d"].map((name) => layout.place(name));
const apart = (layout: Layout, one: string, other: string) => Math.hypot(layout.place(one).x - layout.place(other).x, layout.place(one).y - layout.place(other).y);

describe("layout", () => {
  test("the same network is arranged in the same way, within its box", () => {
    const [one, other] = [chain(), chain()];
    one.arrange();
    other.arrange();
    expect(places(one)).toEqual(places(other));
    for (const { x, y } of places(one)) {
      expect(x).toBeGreaterThanOrEqual(59.999);
      expect(x).toBeLessThanOrEqual(340.001);
      expect(y).toBeGreaterThanOrEqual(31.999);
      expect(y).toBeLessThanOrEqual(268.001);
    }
  });

  test("an arrangement brings neighbours nearer than others, and can be undone", () => {
    const layout = chain();
    layout.arrange();
    expect(apart(layout, "a", "c")).toBeLessThan(apart(layout, "a", "b"));
    expect(layout.shift("d")).not.toEqual({ x: 0, y: 0 });
    layout.restore();
    expect(places(layout)).toEqual(places(chain()));
  });

  test("what is dragged stays, and its neighbours follow", async () => {
    const layout = chain();
    const moved = new Promise<void>((done) => {
      let ticks = 0;
      layout.onmove = () => ++ticks === 20 && done();
    });
    layout.drag("a", { x: 40, y: 250 });
    await moved;
    expect(layout.place("a")).toEqual({ x: 40, y: 250 });
    expect(layout.shift("c").y).toBeGreaterThan(5);
    layout.drop("a");
    layout.restore();
  });
});
