// What each chart of a page has on the screen: lines, axes, and where a value is. A check compares it with the tables and with the pixels.

import type { Scene } from "./scene";

export interface DrawnLine {
  readonly name: string;
  readonly label: string;
  readonly colour: string;
  /** x and y of every value in sight, in the units of the axes. */
  readonly points: readonly (readonly [number, number])[];
  /** Of the cells of a heat map, whose points are their columns and rows. */
  readonly values?: readonly number[];
}

export interface Drawn {
  readonly name: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** The x axis has words, such as the names of flows, which say what they are. */
  readonly words: boolean;
  /** Ends of the axes. */
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly lines: readonly DrawnLine[];
  /** Where a point of the axes is on the screen, in pixels of the window. */
  readonly at: (x: number, y: number) => [number, number];
  /** Lines that are not shown. */
  readonly hidden: number;
}

const charts = new Map<Element, () => Drawn | Drawn[]>();

declare global {
  interface Window {
    /** The charts of the page, in the order in which they were made. */
    thalwegDrawn?: () => Drawn[];
  }
}

/** Where a point of a scene is on the screen, whose picture has this element. */
export function onScreen(picture: Element | null | undefined, scene: Pick<Scene, "width" | "height" | "at">): Drawn["at"] {
  const box = picture?.getBoundingClientRect() ?? new DOMRect();
  return (x, y) => {
    const [left, top] = scene.at(x, y);
    return [box.left + (left * box.width) / scene.width, box.top + (top * box.height) / scene.height];
  };
}

/** Adds what draws into an element; the result removes it. */
export function publish(element: Element, drawn: () => Drawn | Drawn[]): () => void {
  charts.set(element, drawn);
  window.thalwegDrawn = () => [...charts.values()].flatMap((one) => one());
  return () => void charts.delete(element);
}
