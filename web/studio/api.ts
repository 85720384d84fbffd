// Requests to the server. Addresses are relative: the page's own contains the token.

export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly key: string;
  /** From 1; null for the file as a whole. */
  readonly line: number | null;
  /** In characters, from 1. */
  readonly column: number | null;
  readonly hint: string | null;
}

export interface About {
  readonly title: string;
  readonly seed: number;
  readonly duration_s: number;
  readonly flows: number;
  readonly links: number;
  readonly nodes: number;
  /** Points of its sweep; 0 without one. */
  readonly points: number;
  /** Seeds that its sweep lists; 0 if it names none. */
  readonly seeds: number;
  /** Whether series are recorded, which charts need. */
  readonly records: boolean;
  readonly emulation: { readonly possible: boolean; readonly reason: string };
  /** SVG of the network; empty for a large one. */
  readonly network: string;
}

export interface Entry {
  readonly file: string;
  readonly title: string;
  readonly question: string;
  readonly sweep: boolean;
  readonly kind?: string;
  readonly fault: string;
}

export interface Starter {
  readonly name: string;
  readonly question: string;
  readonly title: string;
}

export interface Gallery {
  readonly folder: string;
  readonly scenarios: readonly Entry[];
  readonly starters: readonly Starter[];
}

export interface ResultRow {
  readonly folder: string;
  readonly kind: "run" | "emulation" | "sweep" | "paper" | "unfinished";
  readonly title: string;
  readonly status: string;
  readonly seed: number | null;
  /** When it ended, in seconds since 1970. */
  readonly at: number;
}

export interface Paper {
  readonly name: string;
  readonly title: string;
  /** Whether it makes claims; otherwise it is a comparison. */
  readonly paper: boolean;
}

export interface Option {
  readonly label: string;
  readonly type: string;
  readonly detail: string;
  readonly info: string;
  readonly apply: string;
  readonly boost: number;
}

export interface LiveCharts {
  /** As in the page of a run; null if nothing is recorded. */
  readonly data: string | null;
  readonly flows: { readonly heading: string; readonly columns: readonly [string, string][]; readonly rows: readonly Record<string, string>[]; readonly more: number };
}

/** A request that the server refused. */
export class Refusal extends Error {
  readonly hint: string | null;
  readonly diagnostics: readonly Omit<Diagnostic, "severity">[];
  constructor(said: { message: string; hint: string | null; diagnostics?: Omit<Diagnostic, "severity">[] }) {
    super(said.message);
    this.hint = said.hint;
    this.diagnostics = said.diagnostics ?? [];
  }
}

async function answer<T>(request: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await request;
  } catch {
    throw new Refusal({ message: "the studio does not answer", hint: "`thalweg studio` starts it; what was typed is kept" });
  }
  const said = (await response.json().catch(() => null)) as (T & { error?: ConstructorParameters<typeof Refusal>[0] }) | null;
  if (said?.error) throw new Refusal(said.error);
  if (!response.ok || said === null) throw new Refusal({ message: `the studio answered ${response.status}`, hint: null });
  return said;
}

export const get = <T>(path: string, query: Record<string, string> = {}): Promise<T> =>
  answer(fetch(`api/${path}?${new URLSearchParams(query)}`));

export const post = <T>(path: string, given: object): Promise<T> =>
  answer(fetch(`api/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(given) }));

/** What went wrong, in words. */
export function words(error: unknown): { message: string; hint: string | null } {
  return error instanceof Refusal ? error : { message: String(error), hint: null };
}
