// What all charts of a page share: the visible time, smoothing, width of bins, what is drawn.

export type Mode = "time" | "distribution";

export class View {
  /** Visible time in seconds. */
  range = $state<[number, number]>([0, 1]);
  /** Seconds of the moving average; 0 for none. */
  smoothingS = $state(0);
  /** Recorded samples in a bin. */
  bin = $state(1);
  mode = $state<Mode>("time");
  /** Groups of flows as one line each. */
  groups = $state(false);
  /** Time under the pointer; null outside of all charts. */
  cursor = $state<number | null>(null);

  /** Time that the picture of the network shows, in seconds; null before it was moved. */
  playhead = $state<number | null>(null);
  /** Subjects that charts show alone, of a link or node that was chosen; null for all. */
  focus = $state<ReadonlySet<string> | null>(null);

  readonly startS: number;
  endS = $state(1);

  constructor(startS: number, endS: number) {
    this.startS = startS;
    this.endS = Math.max(endS, startS + 1e-9);
    this.range = [startS, this.endS];
  }

  /** What is shown has a later end; the whole of it stays visible if it was. */
  grow(endS: number): void {
    const whole = !this.zoomed;
    this.endS = Math.max(this.endS, endS);
    if (whole) this.reset();
  }

  /** Shows the whole run. */
  reset(): void {
    this.range = [this.startS, this.endS];
  }

  /** Shows this time, within the run; the shortest span is a millionth of it. */
  show(from: number, to: number): void {
    const whole = this.endS - this.startS;
    const span = Math.min(Math.max(to - from, whole * 1e-6), whole);
    const start = Math.min(Math.max(from, this.startS), this.endS - span);
    this.range = [start, start + span];
  }

  /** Zooms by a factor below 1 (in) or above 1 (out) and keeps the place of `at`. */
  zoom(factor: number, at = (this.range[0] + this.range[1]) / 2): void {
    const [from, to] = this.range;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }

  /** Moves by a share of what is visible. */
  pan(share: number): void {
    const [from, to] = this.range;
    const shift = (to - from) * share;
    const kept = Math.min(Math.max(shift, this.startS - from), this.endS - to);
    this.range = [from + kept, to + kept];
  }

  get zoomed(): boolean {
    return this.range[0] > this.startS || this.range[1] < this.endS;
  }
}
