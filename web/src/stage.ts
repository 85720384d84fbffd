// The drawing of the network, which the page has as SVG, with what moves in it: lanes, queues, drops, marks, packets.

import type { NetworkData, PageData } from "./data";
import { longest, packetsAt, track, valueAt, type Track } from "./motion";

const SVG = "http://www.w3.org/2000/svg";
/** Distance of a lane from the middle of its link. */
const ASIDE = 3.2;
/** Space between a node's middle and the lanes. */
const NODE = 9;
/** Length of a full queue. */
const QUEUE = 30;
/** Share of a window of packets during which a drop is shown. */
const FLASH = 0.015;

interface Lane {
  readonly subject: string;
  readonly link: string;
  readonly from: string;
  readonly to: string;
  readonly line: SVGLineElement;
  readonly box: SVGLineElement;
  readonly queue: SVGLineElement;
  readonly drop: SVGCircleElement;
  readonly mark: SVGCircleElement;
  /** Start, and the way to the end. */
  place: { x: number; y: number; dx: number; dy: number; nx: number; ny: number; scale: number };
}

/** What a link or node has at a time: the series, its unit's factor applied, by subject. */
export interface Reading {
  readonly title: string;
  readonly unit: string;
  readonly subject: string;
  readonly value: number;
}

export class Stage {
  /** Whether anything was recorded that moves. */
  readonly moves: boolean;
  readonly links: readonly string[];
  readonly nodes: readonly string[];
  /** What is recorded of ports, for the legend. */
  readonly shows: { readonly utilisation: boolean; readonly backlog: number; readonly drops: boolean; readonly marks: boolean };
  onchoose: (kind: "link" | "node", name: string) => void = () => {};

  private readonly lanes: Lane[];
  private readonly places = new Map<string, { x: number; y: number }>();
  private readonly moved = new Map<string, { x: number; y: number }>();
  private readonly utilisation: Track | null;
  private readonly backlog: Track | null;
  private readonly drops: Track | null;
  private readonly marks: Track | null;
  private readonly network: NetworkData;
  private readonly layer: SVGGElement;
  private readonly dots: SVGCircleElement[] = [];
  private readonly most: number;
  private at: number | null = null;

  constructor(
    private readonly drawing: SVGSVGElement,
    private readonly data: PageData,
  ) {
    this.network = data.network;
    this.utilisation = track(data, "utilisation");
    this.backlog = track(data, "backlog");
    this.drops = track(data, "drops");
    this.marks = track(data, "queue_marks");
    this.most = this.network.packets ? longest(this.network.packets) : 0;
    this.moves = [this.utilisation, this.backlog, this.drops, this.marks, this.network.packets].some((one) => one !== null);
    this.shows = {
      utilisation: this.utilisation !== null,
      backlog: this.backlog?.highest ?? 0,
      drops: (this.drops?.highest ?? 0) > 0,
      marks: (this.marks?.highest ?? 0) > 0,
    };
    this.layer = element("g", { "pointer-events": "none" });
    this.lanes = this.moves ? this.lay() : [];
    this.links = [...new Set(this.network.ports.map((port) => port.link))];
    this.nodes = [...new Set(this.network.ports.flatMap((port) => [port.from, port.to]))];
    if (this.moves) this.listen();
  }

  /** Lanes beside each link, below the nodes. */
  private lay(): Lane[] {
    const wires = new Map([...this.drawing.querySelectorAll<SVGLineElement>("line[data-link]")].map((line) => [line.dataset.link!, line]));
    for (const [link, line] of wires) {
      const port = this.network.ports.find((one) => one.link === link);
      if (!port) continue;
      const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
      this.places.set(port.from, { x: x1!, y: y1! });
      this.places.set(port.to, { x: x2!, y: y2! });
      if (this.utilisation) line.style.stroke = "var(--line, #d5dae0)";
    }
    const first = this.drawing.querySelector("[data-node]");
    this.drawing.insertBefore(this.layer, first);
    return this.network.ports
      .filter((port) => wires.has(port.link))
      .map((port) => {
        const width = 1.2 + 0.45 * Math.max(0, Math.log10(Math.max(port.rate_bps ?? 1e6, 1e5)) - 5);
        const lane: Lane = {
          subject: port.subject,
          link: port.link,
          from: port.from,
          to: port.to,
          line: element("line", { "stroke-width": width, "stroke-linecap": "round" }),
          box: element("line", { "stroke-width": 6, "stroke-opacity": 0.35 }),
          queue: element("line", { "stroke-width": 6 }),
          drop: element("circle", { r: 0 }),
          mark: element("circle", { r: 0 }),
          place: { x: 0, y: 0, dx: 0, dy: 0, nx: 0, ny: 0, scale: 1 },
        };
        lane.box.style.stroke = "var(--faint, #b8c0c8)";
        lane.queue.style.stroke = "var(--ink, #1d2733)";
        lane.drop.style.fill = "var(--bad, #b3343d)";
        lane.mark.style.fill = "var(--half, #9a6a00)";
        lane.line.dataset.lane = port.subject;
        lane.queue.dataset.queue = port.subject;
        if (this.utilisation) this.layer.append(lane.line);
        this.layer.append(lane.box, lane.queue, lane.mark, lane.drop);
        this.settle(lane);
        return lane;
      });
  }

  private placeOf(node: string): { x: number; y: number } {
    const own = this.places.get(node) ?? { x: 0, y: 0 };
    const moved = this.moved.get(node) ?? { x: 0, y: 0 };
    return { x: own.x + moved.x, y: own.y + moved.y };
  }

  /** Brings a lane to where its nodes are. */
  private settle(lane: Lane): void {
    const [from, to] = [this.placeOf(lane.from), this.placeOf(lane.to)];
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
    const [nx, ny] = [-uy, ux];
    const trim = Math.min(NODE, length / 4);
    const x = from.x + ux * trim + nx * ASIDE;
    const y = from.y + uy * trim + ny * ASIDE;
    const [dx, dy] = [ux * (length - 2 * trim), uy * (length - 2 * trim)];
    const scale = Math.min(1, length / 110);
    lane.place = { x, y, dx, dy, nx, ny, scale };
    set(lane.line, { x1: x, y1: y, x2: x + dx, y2: y + dy });
    const [qx, qy] = [x + nx * 2, y + ny * 2];
    set(lane.box, { x1: qx, y1: qy, x2: qx + nx * QUEUE * scale, y2: qy + ny * QUEUE * scale });
    const out = 6 + QUEUE * scale;
    set(lane.drop, { cx: x + nx * out, cy: y + ny * out });
    set(lane.mark, { cx: x + ux * 9 + nx * out, cy: y + uy * 9 + ny * out });
  }

  /** Shows the network at a time. */
  show(at: number): void {
    this.at = at;
    for (const lane of this.lanes) {
      const used = Math.min(valueAt(this.utilisation, lane.subject, at), 1);
      lane.line.style.stroke = `color-mix(in srgb, var(--water, #0f6c7a) ${Math.round(100 * used)}%, var(--faint, #b8c0c8))`;
      const highest = this.shows.backlog;
      const waiting = valueAt(this.backlog, lane.subject, at);
      const { x, y, nx, ny, scale } = lane.place;
      const ever = highest > 0 && this.backlog?.columns.has(lane.subject);
      const size = ever ? QUEUE * scale * Math.sqrt(waiting / highest) : 0;
      lane.box.style.display = size > 1 ? "" : "none";
      lane.queue.style.display = size > 1 ? "" : "none";
      set(lane.queue, { x1: x + nx * 2, y1: y + ny * 2, x2: x + nx * (2 + size), y2: y + ny * (2 + size) });
      lane.queue.dataset.value = String(waiting);
      set(lane.drop, { r: radius(valueAt(this.drops, lane.subject, at), this.drops) * scale });
      set(lane.mark, { r: radius(valueAt(this.marks, lane.subject, at), this.marks) * scale });
    }
    this.showPackets(at);
  }

  private showPackets(at: number): void {
    const { packets, window, flows } = this.network;
    let used = 0;
    const dot = (x: number, y: number, r: number, colour: string, opacity: number) => {
      const one = this.dots[used] ?? this.more();
      used++;
      set(one, { cx: x, cy: y, r, opacity });
      one.style.fill = colour;
      one.style.display = "";
    };
    if (packets && window && at >= window[0] - this.most && at <= window[1] + this.most) {
      const flash = FLASH * (window[1] - window[0]);
      packetsAt(
        packets,
        at,
        this.most,
        flash,
        (index, share) => {
          const lane = this.lanes[packets.port[index]!];
          if (!lane) return;
          const { x, y, dx, dy, scale } = lane.place;
          const size = packets.bytes[index]! < 200 ? 1.7 : 3.4;
          dot(x + dx * share, y + dy * share, size * Math.max(scale, 0.5), flows[packets.flow[index]!]?.colour ?? "var(--soft, #5b6875)", 1);
        },
        (index, share) => {
          const lane = this.lanes[packets.port[index]!];
          if (!lane) return;
          const { x, y, nx, ny, scale } = lane.place;
          dot(x + nx * (6 + 26 * share) * scale, y + ny * (6 + 26 * share) * scale, 3.4, "var(--bad, #b3343d)", 1 - share);
        },
      );
    }
    for (let index = used; index < this.dots.length; index++) this.dots[index]!.style.display = "none";
  }

  private more(): SVGCircleElement {
    const dot = element("circle", { class: "packet" });
    this.layer.append(dot);
    this.dots.push(dot);
    return dot;
  }

  /** The subjects of a link, in both directions, or of a node. */
  subjects(kind: "link" | "node", name: string): string[] {
    if (kind === "link") return this.network.ports.filter((port) => port.link === name).map((port) => port.subject);
    return this.data.charts.flatMap((chart) => chart.subjects.map((subject) => subject.name)).filter((subject) => subject === `node.${name}` || subject.endsWith(`@${name}`));
  }

  /** All series of these subjects at a time. */
  readings(subjects: readonly string[], at: number): Reading[] {
    return this.data.charts.flatMap((chart) => {
      const one = track(this.data, chart.name);
      return subjects
        .filter((subject) => one?.columns.has(subject))
        .map((subject) => ({ title: chart.title, unit: chart.unit, subject, value: valueAt(one, subject, at) * chart.factor }));
    });
  }

  /** Links and nodes answer clicks; nodes can be dragged. */
  private listen(): void {
    for (const line of this.drawing.querySelectorAll<SVGLineElement>("line[data-link]")) {
      const wide = line.cloneNode(false) as SVGLineElement;
      set(wide, { "stroke-width": 16, stroke: "transparent" });
      wide.style.stroke = "transparent";
      wide.style.cursor = "pointer";
      wide.removeAttribute("data-link");
      wide.dataset.hit = line.dataset.link!;
      const title = line.querySelector("title");
      if (title) wide.append(title.cloneNode(true));
      this.layer.before(wide);
      wide.addEventListener("click", () => this.onchoose("link", line.dataset.link!));
    }
    for (const node of this.drawing.querySelectorAll<SVGGElement>("g[data-node]")) {
      node.style.cursor = "grab";
      node.style.touchAction = "none";
      node.addEventListener("pointerdown", (event) => this.drag(event, node));
    }
  }

  private drag(event: PointerEvent, node: SVGGElement): void {
    const name = node.dataset.node!;
    const start = this.toDrawing(event);
    const before = this.moved.get(name) ?? { x: 0, y: 0 };
    let far = false;
    node.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent) => {
      const now = this.toDrawing(next);
      const shift = { x: before.x + now.x - start.x, y: before.y + now.y - start.y };
      far ||= Math.hypot(now.x - start.x, now.y - start.y) > 3;
      if (far) this.move(name, shift);
    };
    const end = () => {
      node.removeEventListener("pointermove", move);
      if (!far) this.onchoose("node", name);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", end, { once: true });
    node.addEventListener("pointercancel", () => node.removeEventListener("pointermove", move), { once: true });
  }

  private toDrawing(event: PointerEvent): { x: number; y: number } {
    const matrix = this.drawing.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY);
    return matrix ? at.matrixTransform(matrix.inverse()) : at;
  }

  private move(name: string, shift: { x: number; y: number }): void {
    this.moved.set(name, shift);
    for (const part of this.drawing.querySelectorAll<SVGGElement>("g[data-node]")) {
      if (part.dataset.node === name) part.setAttribute("transform", `translate(${shift.x} ${shift.y})`);
    }
    for (const lane of this.lanes) {
      if (lane.from !== name && lane.to !== name) continue;
      this.settle(lane);
      const [from, to] = [this.placeOf(lane.from), this.placeOf(lane.to)];
      for (const line of this.drawing.querySelectorAll<SVGLineElement>("line[data-link], line[data-hit]")) {
        if ((line.dataset.link ?? line.dataset.hit) === lane.link) set(line, { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
      }
    }
    if (this.at !== null) this.show(this.at);
  }
}

function radius(count: number, of: Track | null): number {
  return count > 0 && of ? 2.5 + 6 * Math.sqrt(count / of.highest) : 0;
}

function element<Name extends keyof SVGElementTagNameMap>(name: Name, values: Record<string, string | number>): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(SVG, name);
  set(made, values);
  return made;
}

function set(of: SVGElement, values: Record<string, string | number>): void {
  for (const [name, value] of Object.entries(values)) of.setAttribute(name, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
}
