// Makes the charts of a report page interactive. Without this script, or where it fails, the page shows the same as pictures.

import { mount, unmount } from "svelte";
import uplotStyles from "uplot/dist/uPlot.min.css?inline";
import Chart from "./Chart.svelte";
import { read, type PageData } from "./data";
import Toolbar from "./Toolbar.svelte";
import GridChart from "./GridChart.svelte";
import { readGrids } from "./grids";
import PanelChart from "./PanelChart.svelte";
import { readPanels } from "./panels";
import Motion from "./Motion.svelte";
import { Stage } from "./stage";
import { View } from "./view.svelte";

/** More flows than this are shown by group first. */
const MANY = 12;

/** Metrics over the grid of a sweep, or over seeds. */
function grids(): void {
  const source = document.getElementById("thalweg-grids");
  if (!source?.textContent) return;
  const data = readGrids(source.textContent);
  for (const chart of data.charts) {
    const container = document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(chart.name)}"]`);
    if (!container) continue;
    container.replaceChildren();
    mount(GridChart, { target: container, props: { chart, data } });
  }
}

/** The figures of a paper. */
async function panels(): Promise<void> {
  const source = document.getElementById("thalweg-panels");
  if (!source?.textContent) return;
  for (const figure of await readPanels(source.textContent)) {
    const container = document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(figure.id)}"]`);
    if (!container) continue;
    container.replaceChildren();
    mount(PanelChart, { target: container, props: { figure } });
  }
}

async function start(): Promise<void> {
  grids();
  await panels();
  await overTime();
  document.documentElement.dataset.charts = "ready";
}

/** Series of a run, or of the runs that are compared, and the network. */
async function overTime(): Promise<void> {
  const source = document.getElementById("thalweg-charts");
  if (!source?.textContent) return;
  const data = await read(source.textContent);
  const view = new View(0, data.endS);
  show(data, view, document.getElementById("thalweg-charts-tools"), (name) => document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(name)}"]`));
  const drawing = document.querySelector<SVGSVGElement>("[data-network] svg");
  const place = document.getElementById("thalweg-network");
  if (drawing && place) {
    const stage = new Stage(drawing, data);
    if (stage.moves) mount(Motion, { target: place, props: { stage, view, data } });
  }
}

/** Draws all charts of the data of a page into an element, such as the output of a notebook; the result removes them. */
export async function draw(host: HTMLElement, text: string): Promise<() => void> {
  const data = await read(text);
  const tools = document.createElement("div");
  const containers = new Map(data.charts.map((chart) => [chart.name, document.createElement("div")]));
  host.replaceChildren(tools);
  for (const chart of data.charts) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const container = containers.get(chart.name)!;
    container.className = "plate";
    caption.textContent = chart.title;
    figure.append(container, caption);
    host.append(figure);
  }
  return show(data, new View(0, data.endS), tools, (name) => containers.get(name) ?? null);
}

function show(data: PageData, view: View, bar: HTMLElement | null, containerOf: (name: string) => HTMLElement | null): () => void {
  if (!document.getElementById("thalweg-charts-style")) {
    const style = document.createElement("style");
    style.id = "thalweg-charts-style";
    style.textContent = uplotStyles;
    document.head.append(style);
  }
  const mounted: ReturnType<typeof mount>[] = [];
  view.groups = flowsOf(data) > MANY && hasGroups(data);
  if (bar) mounted.push(mount(Toolbar, { target: bar, props: { view, sampleS: sampleOf(data), hasGroups: hasGroups(data) } }));
  for (const chart of data.charts) {
    const container = containerOf(chart.name);
    if (!container) continue;
    container.replaceChildren();
    mounted.push(mount(Chart, { target: container, props: { chart, view, warmupS: chart.warmupS ?? data.warmupS, marks: chart.marks ?? data.marks } }));
  }
  return () => mounted.forEach((one) => void unmount(one));
}

function flowsOf(data: PageData): number {
  return Math.max(0, ...data.charts.map((chart) => chart.subjects.filter((subject) => subject.group !== null).length));
}

function hasGroups(data: PageData): boolean {
  return data.charts.some((chart) => {
    const groups = chart.subjects.map((subject) => subject.group).filter((group) => group !== null);
    return new Set(groups).size < groups.length;
  });
}

/** The interval between recorded samples. */
function sampleOf(data: PageData): number {
  const times = data.charts.find((chart) => chart.times.length > 1)?.times;
  return times ? Number((times[1]! - times[0]!).toPrecision(6)) : 1;
}

start().catch((error: unknown) => console.error("The charts stay pictures:", error));
