// Files that a chart saves, and text that it copies.

import type { ChartData } from "./data";
import { within } from "./transform";
import { pdf } from "./pdf";
import { svg, type Scene } from "./scene";

/** Offers a file for download. */
export function download(name: string, content: BlobPart, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveSvg(name: string, scene: Scene): void {
  download(`${name}.svg`, svg(scene), "image/svg+xml");
}

export function savePdf(name: string, scene: Scene): void {
  download(`${name}.pdf`, pdf(scene), "application/pdf");
}

/** Three pixels per point: 216 dots per inch. */
export async function savePng(name: string, scene: Scene): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg(scene))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 3 * scene.width;
  canvas.height = Math.ceil(3 * scene.height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser has no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) download(`${name}.png`, blob, "image/png");
}

/**
 * The recorded samples of the visible time as CSV (RFC 4180): `time_s` and one column per subject, in the unit of
 * series.parquet; empty where nothing was recorded.
 */
export function csv(chart: ChartData, from: number, to: number): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = [["time_s", ...chart.subjects.map((subject) => quoted(subject.name))].join(",")];
  const [first, last] = within(chart.times, from, to);
  for (let at = first; at <= last; at++) {
    const time = chart.times[at]!;
    if (time < from || time > to) continue;
    rows.push([time, ...chart.values.map((column) => (Number.isNaN(column[at]!) ? "" : column[at]!))].join(","));
  }
  return `${rows.join("\r\n")}\r\n`;
}
