// What runs, as the server sends it over the WebSocket: every browser has the same.

export interface Cell {
  state: "waiting" | "running" | "done";
  share: number;
  passed: boolean | null;
  metrics: string[];
  values?: string[];
  seed?: number;
}

export interface Activity {
  id: number;
  kind: "run" | "emulation" | "sweep" | "paper" | "transfer";
  title: string;
  command: string;
  file: string;
  folder: string;
  state: "running" | "stopping" | "done" | "stopped" | "failed";
  progress: {
    /** Null while the end is unknown. */
    share: number | null;
    wall_s?: number;
    left_s?: number | null;
    now_s?: number;
    duration_s?: number;
    speed?: number;
    done?: number;
    total?: number;
    going?: number;
    label?: string;
  };
  message: string;
  hint: string | null;
  note: string;
  passed: boolean | null;
  page: boolean;
  /** Of a run or a transfer: number of its present charts, 0 before the first. */
  charts?: number;
  duration_s?: number;
  /** Of a sweep. */
  cells?: Record<string, Cell>;
  keys?: string[];
  metrics?: string[];
}

const RETRY_MS = 1000;

class Live {
  activities = $state<Record<number, Activity>>({});
  connected = $state(false);
  /** Whether the first message has come. */
  known = $state(false);

  connect(): void {
    const socket = new WebSocket(new URL("live", location.href.replace(/^http/, "ws").replace(/#.*/, "")));
    socket.onopen = () => (this.connected = true);
    socket.onmessage = (event) => {
      for (const one of (JSON.parse(event.data as string) as { activities: Activity[] }).activities) this.#take(one);
      this.known = true;
    };
    socket.onclose = () => {
      this.connected = false;
      setTimeout(() => this.connect(), RETRY_MS);
    };
  }

  #take(one: Activity): void {
    const before = this.activities[one.id]?.cells ?? {};
    const cells = one.cells && { ...before };
    // a cell that has changed comes without its values
    for (const [index, cell] of Object.entries(one.cells ?? {})) cells![index] = { ...before[index], ...cell };
    this.activities[one.id] = cells ? { ...one, cells } : one;
  }
}

export const live = new Live();

export const isOver = (one: Activity): boolean => one.state !== "running" && one.state !== "stopping";
