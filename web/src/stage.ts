// The drawing of the network, which the page has as SVG, with what moves in it: lanes, queues, drops, marks, packets, multicast trees,
// pending Interests, orders of a controller.

import type { NetworkData, PageData, PortData } from "./data";
import { Layout, type Place } from "./layout";
import { inTree, longest, packetsAt, recent, track, valueAt, type Track } from "./motion";

const SVG = "http://www.w3.org/2000/svg";
/** Distance of a lane from the middle of its link. */
const ASIDE = 3.2;
/** Space between a node's middle and the lanes. */
const NODE = 9;
/** Length of the bar of a full queue. */
const QUEUE = 30;
/** Share of a window of packets during which a drop is shown. */
const FLASH = 0.015;
/** Share of the visible time during which an order is shown. */
const ORDER_FLASH = 0.03;
/** Distance between the lanes of multicast trees, and how many have a lane. */
const TREE_ASIDE = 2.6;
const MAX_TREES = 6;
/** Radius of the ring around a node with the most pending Interests, beyond that of the node. */
const PENDING = 16;
/** More nodes than this are moved one by one. */
const MAX_BODIES = 500;

interface Lane {
  readonly subject: string;
  readonly link: string;
  readonly from: string;
  readonly to: string;
  /** Packets of a full queue. */
  readonly limit: number;
  readonly line: SVGLineElement;
  readonly box: SVGLineElement;
  readonly queue: SVGLineElement;
  readonly drop: SVGCircleElement;
  readonly mark: SVGCircleElement;
  /** Start, and the way to the end. */
  place: { x: number; y: number; dx: number; dy: number; nx: number; ny: number; scale: number };
}

/** A group's lane beside a direction of a link. */
interface Branch {
  readonly lane: Lane;
  readonly number: number;
  readonly changes: readonly number[];
  readonly line: SVGLineElement;
}

/** What a link or node has at a time: the series, its unit's factor applied, by subject. */
export interface Reading {
  readonly name: string;
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
  readonly shows: { readonly utilisation: boolean; readonly backlog: boolean; readonly limits: readonly number[]; readonly drops: boolean; readonly marks: boolean; readonly pending: number };
  onchoose: (kind: "link" | "node", name: string) => void = () => {};

  /** By port. */
  private readonly lanes: readonly Lane[];
  private readonly places = new Map<string, { x: number; y: number }>();
  private readonly layout: Layout | null;
  private readonly branches: Branch[];
  private readonly rings = new Map<string, SVGCircleElement>();
  private readonly pending: Track | null;
  private readonly utilisation: Track | null;
  private readonly backlog: Track | null;
  private readonly drops: Track | null;
  private readonly marks: Track | null;
  private readonly network: NetworkData;
  private readonly layer: SVGGElement;
  /** Packets, and orders. */
  private readonly dots: SVGCircleElement[] = [];
  private readonly arrows: SVGLineElement[] = [];
  private readonly most: number;
  private at: readonly [number, number] | null = null;

  constructor(
    private readonly drawing: SVGSVGElement,
    private readonly data: PageData,
  ) {
    this.network = data.network;
    this.utilisation = track(data, "utilisation");
    this.backlog = track(data, "backlog");
    this.drops = track(data, "drops");
    this.marks = track(data, "queue_marks");
    this.pending = track(data, "pit");
    this.most = this.network.packets ? longest(this.network.packets) : 0;
    const { packets, trees, orders } = this.network;
    this.moves =
      [this.utilisation, this.backlog, this.drops, this.marks, this.pending, packets].some((one) => one !== null) || trees.length + orders.length > 0;
    this.shows = {
      utilisation: this.utilisation !== null,
      backlog: (this.backlog?.highest ?? 0) > 0,
      limits: [...new Set(this.network.ports.filter((port) => this.backlog?.columns.has(port.subject)).map((port) => this.limitOf(port)))].sort((one, other) => one - other),
      drops: (this.drops?.highest ?? 0) > 0,
      marks: (this.marks?.highest ?? 0) > 0,
      pending: this.pending?.highest ?? 0,
    };
    this.layer = element("g", { "pointer-events": "none" });
    this.lanes = this.moves ? this.lay() : [];
    this.branches = this.grow();
    this.lights();
    this.layout = this.moves && this.places.size <= MAX_BODIES ? new Layout(this.places, this.pairs(), this.size) : null;
    if (this.layout) this.layout.onmove = () => this.follow();
    this.links = [...new Set(this.network.ports.map((port) => port.link))];
    this.nodes = [...new Set(this.network.ports.flatMap((port) => [port.from, port.to]))];
    if (this.moves) this.listen();
  }

  /** Packets for which the bar of a queue has its full length: the limit of the queue, or what was recorded at most where there is none. */
  private limitOf(port: PortData): number {
    return port.queue_packets ?? this.backlog?.highest ?? 0;
  }

  /** The drawing is in units of its view box. */
  private get size(): readonly [number, number] {
    const { width, height } = this.drawing.viewBox.baseVal;
    return [width, height];
  }

  /** Whether the nodes can be arranged anew. */
  get arranges(): boolean {
    return this.layout !== null && this.places.size > 2;
  }

  /** Arranges the nodes by springs, or brings them back. */
  arrange(on: boolean): void {
    if (on) this.layout?.arrange();
    else this.layout?.restore();
  }

  /** Neighbours, once per link. */
  private pairs(): [string, string][] {
    const pairs = new Map(this.network.ports.map((port) => [port.link, [port.from, port.to] as [string, string]]));
    return [...pairs.values()];
  }

  /** A lane for each group beside those of the links in its tree. */
  private grow(): Branch[] {
    return this.network.trees.slice(0, MAX_TREES).flatMap((tree, number) =>
      tree.ports.flatMap(([port, changes]) => {
        const lane = this.lanes[port];
        if (!lane) return [];
        const line = element("line", { "stroke-width": 2.2, "stroke-linecap": "round" });
        line.style.stroke = tree.colour;
        line.dataset.tree = tree.flow;
        line.dataset.port = lane.subject;
        this.layer.append(line);
        const branch = { lane, number, changes, line };
        this.settleBranch(branch);
        return [branch];
      }),
    );
  }

  private settleBranch({ lane, number, line }: Branch): void {
    const { x, y, dx, dy, nx, ny } = lane.place;
    const aside = TREE_ASIDE * (number + 1);
    set(line, { x1: x + nx * aside, y1: y + ny * aside, x2: x + dx + nx * aside, y2: y + dy + ny * aside });
  }

  /** Rings around the nodes with pending Interests. */
  private lights(): void {
    for (const subject of this.pending?.columns.keys() ?? []) {
      const name = subject.replace(/^node\./, "");
      if (!this.places.has(name)) continue;
      const ring = element("circle", { r: 0, "fill-opacity": 0.28 });
      ring.style.fill = "var(--half, #9a6a00)";
      ring.dataset.pending = name;
      this.layer.prepend(ring);
      this.rings.set(name, ring);
    }
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
      if (this.utilisation && line.dataset.control === undefined) line.style.stroke = "var(--line, #d5dae0)";
    }
    const first = this.drawing.querySelector("[data-node]");
    this.drawing.insertBefore(this.layer, first);
    return this.network.ports.map((port) => {
      const width = 1.2 + 0.45 * Math.max(0, Math.log10(Math.max(port.rate_bps ?? 1e6, 1e5)) - 5);
      const lane: Lane = {
        subject: port.subject,
        link: port.link,
        from: port.from,
        to: port.to,
        limit: this.limitOf(port),
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
      // links for messages of a controller only show these messages
      const hidden = wires.get(port.link)?.dataset.control !== undefined;
      if (this.utilisation && !hidden) this.layer.append(lane.line);
      if (!hidden) this.layer.append(lane.box, lane.queue, lane.mark, lane.drop);
      this.settle(lane);
      return lane;
    });
  }

  private placeOf(node: string): { x: number; y: number } {
    return this.layout?.place(node) ?? this.places.get(node) ?? { x: 0, y: 0 };
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

  /** Shows the network at a time; `span` is the visible time. */
  show(at: number, span: number): void {
    this.at = [at, span];
    for (const lane of this.lanes) {
      const used = Math.min(valueAt(this.utilisation, lane.subject, at), 1);
      lane.line.style.stroke = `color-mix(in srgb, var(--water, #0f6c7a) ${Math.round(100 * used)}%, var(--faint, #b8c0c8))`;
      const waiting = valueAt(this.backlog, lane.subject, at);
      const { x, y, nx, ny, scale } = lane.place;
      const ever = lane.limit > 0 && this.backlog?.columns.has(lane.subject);
      const size = ever ? QUEUE * scale * Math.sqrt(Math.min(waiting / lane.limit, 1)) : 0;
      lane.box.style.display = size > 1 ? "" : "none";
      lane.queue.style.display = size > 1 ? "" : "none";
      set(lane.queue, { x1: x + nx * 2, y1: y + ny * 2, x2: x + nx * (2 + size), y2: y + ny * (2 + size) });
      lane.queue.dataset.value = String(waiting);
      set(lane.drop, { r: radius(valueAt(this.drops, lane.subject, at), this.drops) * scale });
      set(lane.mark, { r: radius(valueAt(this.marks, lane.subject, at), this.marks) * scale });
    }
    for (const { line, changes } of this.branches) line.style.display = inTree(changes, at) ? "" : "none";
    for (const [name, ring] of this.rings) {
      const { x, y } = this.placeOf(name);
      const value = valueAt(this.pending, `node.${name}`, at);
      set(ring, { cx: x, cy: y, r: value > 0 ? NODE + PENDING * Math.sqrt(value / this.shows.pending) : 0 });
      ring.dataset.value = String(value);
    }
    this.showMoments(at, span);
  }

  /** Packets on their links, and orders of a controller. */
  private showMoments(at: number, span: number): void {
    const { packets, window, flows, orders } = this.network;
    let used = 0;
    const dot = (x: number, y: number, r: number, colour: string, opacity: number, outline = "none") => {
      const one = this.dots[used] ?? this.more();
      used++;
      set(one, { cx: x, cy: y, r, opacity });
      one.style.fill = colour;
      one.style.stroke = outline;
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
          const outline = packets.marked[index] === 1 ? "var(--half, #9a6a00)" : "none";
          dot(x + dx * share, y + dy * share, size * Math.max(scale, 0.5), flows[packets.flow[index]!]?.colour ?? "var(--soft, #5b6875)", 1, outline);
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
    let drawn = 0;
    const arrow = (from: Place, to: Place, width: number, share: number) => {
      const one = this.arrows[drawn] ?? this.moreArrows();
      drawn++;
      set(one, { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "stroke-width": width, opacity: 1 - share });
      one.style.display = "";
      return one;
    };
    for (const [order, share] of recent(orders, at, ORDER_FLASH * span)) {
      if (order.from !== null) {
        arrow(this.placeOf(order.from), this.placeOf(order.node), 1.6, share).setAttribute("stroke-dasharray", "5 4");
        continue;
      }
      const lane = this.lanes.find((one) => one.subject === order.subject);
      if (!lane) continue;
      const { x, y, dx, dy } = lane.place;
      arrow({ x, y }, { x: x + dx, y: y + dy }, 7, share).removeAttribute("stroke-dasharray");
    }
    for (let index = drawn; index < this.arrows.length; index++) this.arrows[index]!.style.display = "none";
  }

  private moreArrows(): SVGLineElement {
    const arrow = element("line", { class: "order", "stroke-linecap": "round" });
    arrow.style.stroke = "var(--order, #c2571a)";
    this.layer.append(arrow);
    this.arrows.push(arrow);
    return arrow;
  }

  private more(): SVGCircleElement {
    const dot = element("circle", { class: "packet", "stroke-width": 1.4 });
    this.layer.append(dot);
    this.dots.push(dot);
    return dot;
  }

  /** The subjects of a link, in both directions, or of a node. */
  subjects(kind: "link" | "node", name: string): string[] {
    if (kind === "link") return this.network.ports.filter((port) => port.link === name).map((port) => port.subject);
    const flows = new Set(this.network.flows.filter((flow) => flow.nodes.includes(name)).map((flow) => `flow.${flow.name}`));
    const all = this.data.charts.flatMap((chart) => chart.subjects.map((subject) => subject.name));
    return [...new Set(all)].filter((subject) => subject === `node.${name}` || subject.endsWith(`@${name}`) || flows.has(subject));
  }

  /** All series of these subjects at a time. */
  readings(subjects: readonly string[], at: number): Reading[] {
    return this.data.charts.flatMap((chart) => {
      const one = track(this.data, chart.name);
      return subjects
        .filter((subject) => one?.columns.has(subject))
        .map((subject) => ({ name: chart.name, title: chart.title, unit: chart.unit, subject, value: valueAt(one, subject, at) * chart.factor }));
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
    const before = this.placeOf(name);
    let far = false;
    node.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent) => {
      const now = this.toDrawing(next);
      far ||= Math.hypot(now.x - start.x, now.y - start.y) > 3;
      if (far) this.layout?.drag(name, { x: before.x + now.x - start.x, y: before.y + now.y - start.y });
    };
    const end = (chosen: boolean) => {
      node.removeEventListener("pointermove", move);
      if (far) this.layout?.drop(name);
      else if (chosen) this.onchoose("node", name);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", () => end(true), { once: true });
    node.addEventListener("pointercancel", () => end(false), { once: true });
  }

  private toDrawing(event: PointerEvent): { x: number; y: number } {
    const matrix = this.drawing.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY);
    return matrix ? at.matrixTransform(matrix.inverse()) : at;
  }

  /** Brings everything to where the nodes are now. */
  private follow(): void {
    const { layout } = this;
    if (!layout) return;
    const shifted = (part: SVGElement, { x, y }: Place) => part.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    for (const part of this.drawing.querySelectorAll<SVGGElement>("[data-node]")) shifted(part, layout.shift(part.dataset.node!));
    for (const part of this.drawing.querySelectorAll<SVGTextElement>("[data-name]")) shifted(part, layout.shift(part.dataset.name!));
    const ends = new Map(this.network.ports.map((port) => [port.link, [port.from, port.to] as const]));
    for (const part of this.drawing.querySelectorAll<SVGTextElement>("[data-about]")) {
      const [one, other] = (ends.get(part.dataset.about!) ?? []).map((name) => layout.shift(name));
      if (one && other) shifted(part, { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
    }
    for (const line of this.drawing.querySelectorAll<SVGLineElement>("line[data-link], line[data-hit]")) {
      const [from, to] = (ends.get((line.dataset.link ?? line.dataset.hit)!) ?? []).map((name) => this.placeOf(name));
      if (from && to) set(line, { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
    }
    this.lanes.forEach((lane) => this.settle(lane));
    this.branches.forEach((branch) => this.settleBranch(branch));
    if (this.at !== null) this.show(...this.at);
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
