// A chart before it is laid out: its lines, its axes and their words.

/** Values at a place as a box plot. */
export interface Box {
  readonly median: number;
  /** Quartiles, interpolated between values. */
  readonly low: number;
  readonly high: number;
  /** The last values within 1.5 interquartile ranges of the box. */
  readonly whiskers: readonly [number, number];
  readonly beyond: readonly number[];
}

export interface Polyline {
  readonly label: string;
  readonly colour: string;
  /** Lengths of dashes and gaps in turn, in pixels; a solid line without. */
  readonly dash?: readonly number[];
  /** Runs of x and y in turn, in the units of the axes; a gap starts a new run. */
  readonly runs: readonly (readonly number[])[];
  /** Each point is a square too, and with `bars` its x, low and high are a bar, which ends in an arrow where the axis does. */
  readonly points?: readonly (readonly [number, number])[];
  readonly bars?: readonly (readonly [number, number, number])[];
  /** Box plots: position on the x axis, box, and how many boxes' widths it stands aside of that. */
  readonly boxes?: readonly (readonly [number, Box, number])[];
}

export interface Sketch {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly lines: readonly Polyline[];
  /** Positions on the x axis, and their words. */
  readonly marks: readonly (readonly [number, string])[];
  /** Positions on the x axis with a tick, and its words; round numbers without. */
  readonly xTicks?: readonly (readonly [number, string])[];
  /** A shaded range of x, such as the warm-up. */
  readonly shade: readonly [number, number] | null;
}
