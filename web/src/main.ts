// Makes the charts of a report page interactive. Without this script, or where it fails, the page shows the same as pictures.

import { mount } from "svelte";
import uplotStyles from "uplot/dist/uPlot.min.css?inline";
import Chart from "./Chart.svelte";
import { read, type PageData } from "./data";
import Toolbar from "./Toolbar.svelte";
import GridChart from "./GridChart.svelte";
import { readGrids } from "./grids";
import Motion from "./Motion.svelte";
import { Stage } from "./stage";
import { View } from "./view.svelte";

/** More flows than this are shown by group first. */
const MANY = 12;

/** The charts of a sweep's page. */
function grids(): void {
  const source = document.getElementById("thalweg-grids");
  if (!source?.textContent) return;
  const data = readGrids(source.textContent);
  for (const chart of data.charts) {
    const plate = document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(chart.name)}"]`);
    if (!plate) continue;
    plate.replaceChildren();
    mount(GridChart, { target: plate, props: { chart, data } });
  }
  document.documentElement.dataset.charts = "ready";
}

async function start(): Promise<void> {
  grids();
  const source = document.getElementById("thalweg-charts");
  if (!source?.textContent) return;
  const data = await read(source.textContent);
  const style = document.createElement("style");
  style.textContent = uplotStyles;
  document.head.append(style);
  const view = new View(0, data.endS);
  view.groups = flowsOf(data) > MANY && hasGroups(data);
  const bar = document.getElementById("thalweg-charts-tools");
  if (bar) mount(Toolbar, { target: bar, props: { view, sampleS: sampleOf(data), hasGroups: hasGroups(data) } });
  for (const chart of data.charts) {
    const plate = document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(chart.name)}"]`);
    if (!plate) continue;
    plate.replaceChildren();
    mount(Chart, { target: plate, props: { chart, view, warmupS: data.warmupS, marks: data.marks } });
  }
  const drawing = document.querySelector<SVGSVGElement>("[data-network] svg");
  const place = document.getElementById("thalweg-network");
  if (drawing && place) {
    const stage = new Stage(drawing, data);
    if (stage.moves) mount(Motion, { target: place, props: { stage, view, data } });
  }
  document.documentElement.dataset.charts = "ready";
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
