// Places of nodes while the picture of the network is dragged or rearranged: springs along links, by d3-force. It starts from the drawn
// places and draws no random numbers of its own, so that the same network is arranged in the same way every time.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation, type SimulationLinkDatum, type SimulationNodeDatum } from "d3-force";

interface Body extends SimulationNodeDatum {
  readonly name: string;
  x: number;
  y: number;
  /** Where it is at rest. */
  home: Place;
}

interface Spring extends SimulationLinkDatum<Body> {
  readonly source: Body;
  readonly target: Body;
  /** Length at rest. */
  rest: number;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Share of the way home that a node without links would go in a step; springs are stronger. */
const HOMING = 0.035;
const SPRING = 0.5;
/** Steps of an arrangement, after which d3-force has cooled down. */
const STEPS = 300;
/** Length of a link and repulsion of nodes in an arrangement, in units of the drawing. */
const LENGTH = 60;
const REPULSION = -220;
/** How far each node is moved before an arrangement, in another direction than the node before it. */
const OFF_LINE = 12;
/** Space at the left and right, and above and below an arrangement, for names; and what a dragged node keeps to the edge. */
const MARGIN = [60, 32] as const;
const EDGE = 14;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

export class Layout {
  /** Called after places have changed. */
  onmove: () => void = () => {};

  private readonly bodies: Body[];
  private readonly byName: ReadonlyMap<string, Body>;
  private readonly drawn: ReadonlyMap<string, Place>;
  private readonly springs: Spring[];
  private readonly simulation: Simulation<Body, Spring>;

  /** `places` are those that are drawn, `links` are pairs of names, `size` is the width and height of the drawing, which no node leaves. */
  constructor(
    places: ReadonlyMap<string, Place>,
    links: readonly (readonly [string, string])[],
    private readonly size: readonly [number, number],
  ) {
    this.drawn = new Map(places);
    this.bodies = [...places].map(([name, { x, y }]) => ({ name, x, y, home: { x, y } }));
    this.byName = new Map(this.bodies.map((body) => [body.name, body]));
    this.springs = links.flatMap(([from, to]) => {
      const [source, target] = [this.byName.get(from), this.byName.get(to)];
      return source && target ? [{ source, target, rest: distance(source, target) }] : [];
    });
    this.simulation = forceSimulation<Body>(this.bodies)
      .force("x", forceX<Body>((body) => body.home.x).strength(HOMING))
      .force("y", forceY<Body>((body) => body.home.y).strength(HOMING))
      .force("springs", forceLink<Body, Spring>(this.springs).distance((spring) => spring.rest).strength(SPRING))
      .on("tick", () => {
        for (const body of this.bodies) Object.assign(body, this.inside(body));
        this.onmove();
      })
      .stop();
  }

  place(name: string): Place {
    const { x, y } = this.byName.get(name) ?? { x: 0, y: 0 };
    return { x, y };
  }

  /** How far a node is from where it was drawn. */
  shift(name: string): Place {
    const [now, before] = [this.place(name), this.drawn.get(name) ?? { x: 0, y: 0 }];
    return { x: now.x - before.x, y: now.y - before.y };
  }

  /** Holds a node at a place; its neighbours follow by their springs until [`Layout.drop`]. */
  drag(name: string, at: Place): void {
    const body = this.byName.get(name);
    if (!body) return;
    const { x, y } = this.inside(at);
    [body.fx, body.fy] = [x, y];
    this.simulation.alphaTarget(0.3).restart();
  }

  /** Leaves a node where it was dragged to. */
  drop(name: string): void {
    const body = this.byName.get(name);
    if (!body) return;
    body.home = { x: body.fx ?? body.x, y: body.fy ?? body.y };
    [body.fx, body.fy] = [null, null];
    this.rehome();
    this.simulation.alphaTarget(0).restart();
  }

  /** The nearest place within the drawing. */
  private inside({ x, y }: Place): Place {
    const [width, height] = this.size;
    return { x: Math.min(Math.max(x, EDGE), width - EDGE), y: Math.min(Math.max(y, EDGE), height - EDGE) };
  }

  /** Arranges all nodes by the forces of links and of repulsion alone. */
  arrange(): void {
    const [width, height] = this.size;
    // nodes that are drawn on one line would stay on it
    this.bodies.forEach((body, index) => {
      body.x += OFF_LINE * Math.cos(index * GOLDEN_ANGLE);
      body.y += OFF_LINE * Math.sin(index * GOLDEN_ANGLE);
    });
    const arrangement = forceSimulation<Body>(this.bodies)
      .force("springs", forceLink<Body, Spring>(this.springs).distance(LENGTH))
      .force("repulsion", forceManyBody<Body>().strength(REPULSION))
      .force("apart", forceCollide<Body>(14))
      .force("x", forceX<Body>(width / 2).strength(0.04))
      .force("y", forceY<Body>(height / 2).strength((0.04 * width) / height))
      .stop();
    arrangement.tick(STEPS);
    const fit = (axis: "x" | "y", size: number, margin: number) => {
      const values = this.bodies.map((body) => body[axis]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const scale = Math.min(2.5, (size - 2 * margin) / (high - low || 1));
      for (const body of this.bodies) body[axis] = size / 2 + (body[axis] - (low + high) / 2) * scale;
    };
    fit("x", width, MARGIN[0]);
    fit("y", height, MARGIN[1]);
    this.settle();
  }

  /** Brings all nodes back to where they were drawn. */
  restore(): void {
    for (const body of this.bodies) Object.assign(body, this.drawn.get(body.name));
    this.settle();
  }

  private settle(): void {
    this.simulation.stop();
    for (const body of this.bodies) Object.assign(body, { home: { x: body.x, y: body.y }, vx: 0, vy: 0 });
    this.rehome();
    this.onmove();
  }

  /** Takes the homes as what is at rest. */
  private rehome(): void {
    for (const spring of this.springs) spring.rest = distance(spring.source.home, spring.target.home);
    this.simulation
      .force("x", forceX<Body>((body) => body.home.x).strength(HOMING))
      .force("y", forceY<Body>((body) => body.home.y).strength(HOMING))
      .force("springs", forceLink<Body, Spring>(this.springs).distance((spring) => spring.rest).strength(SPRING));
  }
}

function distance(one: Place, other: Place): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
