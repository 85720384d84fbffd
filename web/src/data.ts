// The data of a page: a header in JSON, and columns of 64-bit floats, compressed with gzip and written in base64.
// `python/thalweg/report/_charts.py` writes it.

/** One line of a chart: a flow, a link, a receiver or a node. */
export interface Subject {
  /** As in the column `subject` of series.parquet. */
  readonly name: string;
  readonly label: string;
  readonly colour: string;
  /** The flows that one entry of the scenario makes; null for a subject that is no flow. */
  readonly group: string | null;
  /** It is hidden first: its mean is near zero, or other lines say more. */
  readonly quiet: boolean;
  /** Lengths of dashes and gaps in turn, in pixels; a solid line without. */
  readonly dash?: readonly number[] | undefined;
}

/** One series of a run, over time. */
export interface ChartData {
  /** As in the column `series` of series.parquet. */
  readonly name: string;
  readonly title: string;
  /** Unit of the chart's axis; empty for a plain number. */
  readonly unit: string;
  /** The axis shows the recorded value times this factor. */
  readonly factor: number;
  readonly subjects: readonly Subject[];
  /** Sample times in seconds, ascending. */
  readonly times: Float64Array;
  /** One column per subject; NaN where nothing was recorded. */
  readonly values: readonly Float64Array[];
  /** Python that draws the same chart; empty where no file has the values. */
  readonly python: string;
  /** Of a chart whose run is not the only one of the page; without, those of the page. */
  readonly warmupS?: number | undefined;
  readonly marks?: PageData["marks"] | undefined;
}

/** One direction of a link. */
export interface PortData {
  readonly link: string;
  readonly from: string;
  readonly to: string;
  /** As in the column `subject` of series.parquet. */
  readonly subject: string;
  /** Bits per second; null where a trace has the rate. */
  readonly rate_bps: number | null;
  /** Limit of its queue in packets; null if the plan has none in packets. */
  readonly queue_packets: number | null;
}

/** Recorded packets by the time at which each reached the end of its link or was dropped. */
export interface Packets {
  readonly atS: Float64Array;
  /** When it was put on the link. */
  readonly sentS: Float64Array;
  /** Index of the port; −1 for a drop at a node. */
  readonly port: Float64Array;
  /** Index of the flow; −1 for none. */
  readonly flow: Float64Array;
  readonly bytes: Float64Array;
  /** 1 for a drop. */
  readonly dropped: Float64Array;
  /** 1 for a packet with a congestion mark. */
  readonly marked: Float64Array;
}

/** The directions of links that a multicast group takes. */
export interface TreeData {
  readonly flow: string;
  readonly colour: string;
  /** Index of a port, and the times at which it joins and leaves the tree in turn. */
  readonly ports: readonly (readonly [number, readonly number[]])[];
}

/** What an SDN controller orders, or what a node does at its command. */
export interface OrderData {
  readonly at_s: number;
  /** The controller of an order that is sent; null for a node that executes one. */
  readonly from: string | null;
  readonly node: string;
  /** Subject of the port that traffic takes from then on; null for an order that is sent. */
  readonly subject: string | null;
  readonly words: string;
}

export interface NetworkData {
  readonly ports: readonly PortData[];
  /** `nodes` are those of its sender, and of its receiver if it has only one. */
  readonly flows: readonly { readonly name: string; readonly colour: string; readonly nodes: readonly string[] }[];
  readonly trees: readonly TreeData[];
  readonly orders: readonly OrderData[];
  /** Null if none were recorded. */
  readonly packets: Packets | null;
  /** The time in which they were recorded, in seconds. */
  readonly window: readonly [number, number] | null;
}

export interface PageData {
  readonly title: string;
  readonly warmupS: number;
  readonly endS: number;
  /** Times in seconds, and what the scenario changes then. */
  readonly marks: readonly (readonly [number, string])[];
  readonly charts: readonly ChartData[];
  readonly network: NetworkData;
}

interface Header {
  readonly format: number;
  readonly title: string;
  readonly warmup_s: number;
  readonly end_s: number;
  readonly marks: [number, string][];
  readonly charts: {
    name: string;
    title: string;
    unit: string;
    factor: number;
    subjects: Subject[];
    /** First value and number of values of each column, the times first. */
    columns: [number, number][];
    python: string;
    warmup_s?: number;
    marks?: [number, string][];
  }[];
  readonly network: {
    ports: PortData[];
    flows: { name: string; colour: string; nodes: string[] }[];
    trees: TreeData[];
    orders: OrderData[];
    /** First value and number of values of the columns of [`Packets`], in their order. */
    packets: [number, number][];
    window: [number, number] | null;
  };
  readonly bytes: string;
}

export const FORMAT = 3;

/** Reads the data of a page. Throws if it has another format or the browser cannot decompress it. */
export async function read(text: string): Promise<PageData> {
  const header = JSON.parse(text) as Header;
  if (header.format !== FORMAT) throw new Error(`the data have format ${header.format}; this script reads ${FORMAT}`);
  const column = await columnsOf(header.bytes);
  return {
    title: header.title,
    warmupS: header.warmup_s,
    endS: header.end_s,
    marks: header.marks,
    charts: header.charts.map((chart) => ({
      name: chart.name,
      title: chart.title,
      unit: chart.unit,
      factor: chart.factor,
      subjects: chart.subjects,
      times: column(chart.columns[0] ?? [0, 0]),
      values: chart.columns.slice(1).map(column),
      python: chart.python,
      warmupS: chart.warmup_s,
      marks: chart.marks,
    })),
    network: { ...header.network, packets: packets(header.network.packets.map(column)) },
  };
}

/** What gives a column by its first value and its number of values. */
export async function columnsOf(bytes: string): Promise<(place: [number, number]) => Float64Array> {
  const packed = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const numbers = floats(await new Response(stream).arrayBuffer());
  return ([first, length]) => numbers.subarray(first, first + length);
}

function packets(columns: readonly Float64Array[]): Packets | null {
  const [atS, sentS, port, flow, bytes, dropped, marked] = columns;
  return atS && sentS && port && flow && bytes && dropped && marked ? { atS, sentS, port, flow, bytes, dropped, marked } : null;
}

/** Little-endian 64-bit floats. */
function floats(buffer: ArrayBuffer): Float64Array {
  const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  if (littleEndian) return new Float64Array(buffer);
  const view = new DataView(buffer);
  return Float64Array.from({ length: buffer.byteLength / 8 }, (_, index) => view.getFloat64(8 * index, true));
}
