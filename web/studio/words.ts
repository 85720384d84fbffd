// Words of the interface.

import { number } from "../src/format";
import type { Activity } from "./live.svelte";

export const KINDS = { run: "Run", emulation: "Emulation", sweep: "Sweep", paper: "Paper", transfer: "Transfer", unfinished: "Unfinished" } as const;

/** Class and text of the badge of an activity. */
export function badge(one: Activity): [string, string] {
  if (one.state === "running") return ["half", "running"];
  if (one.state === "stopping") return ["half", "stopping"];
  if (one.state === "failed") return ["bad", "✗ failed"];
  if (one.state === "stopped") return ["none", "stopped"];
  if (one.passed === false) return ["bad", "✗ expectations fail"];
  return ["good", "✓ done"];
}

/** `35 s`, `4 min`. */
export const span = (seconds: number): string => (seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);

/** `35 %`. */
export const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** Text in which backticks mark code: its parts, and whether each is code. */
export function marked(text: string): (readonly [text: string, code: boolean])[] {
  // what is between a pair of backticks has an odd place; a single one is itself
  return text.split(/`([^`]+)`/).map((part, place) => [part, place % 2 === 1] as const).filter(([part]) => part !== "");
}

/** How far an activity is, in a line. */
export function progress(one: Activity): string {
  const at = one.progress;
  if (one.kind === "transfer") return at.label ?? "";
  const parts: string[] = [];
  if (at.now_s !== undefined) parts.push(`${number(Number(at.now_s.toPrecision(3)))} of ${number(at.duration_s ?? 0)} s`);
  if (at.total !== undefined) parts.push(`${at.done} of ${at.total} runs`);
  // what is being stopped does not go on to its end
  if (one.state === "stopping") parts.push("stopping");
  else if (at.speed) parts.push(`${number(Number(at.speed.toPrecision(2)))} × real time`);
  if (one.state === "running" && at.left_s != null) parts.push(`${span(at.left_s)} left`);
  return parts.join(" · ");
}
