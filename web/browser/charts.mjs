// Opens report pages as readers see them, at three widths, light and dark, and prints what is wrong with their charts as JSON, and what they draw:
// `node browser/charts.mjs BROWSER PAGE...`. `tests/python/test_drawn.py` compares what is drawn with the tables.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, ...pages] = process.argv.slice(2);
const WIDTHS = [1300, 768, 390];
const SCHEMES = ["light", "dark"];
const PATIENCE_MS = 600_000;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: PATIENCE_MS });
const found = {};

for (const file of pages) {
  const text = readFileSync(file, "utf8");
  const interactive = ["charts", "panels", "grids"].some((kind) => text.includes(`id="thalweg-${kind}"`));
  const problems = new Set();
  let drawn = null;
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const where = `${width} px, ${colorScheme}`;
      page.on("pageerror", (error) => problems.add(`${where}: ${error.message}`));
      page.on("console", (message) => message.type() === "error" && problems.add(`${where}: ${message.text()}`));
      await page.goto(pathToFileURL(file).href);
      if (interactive) await page.waitForSelector("html[data-charts=ready]");
      for (const one of await page.evaluate(look)) problems.add(`${where}: ${one}`);
      if (interactive) {
        // the pixels as they are on the screen
        const picture = (await page.screenshot({ fullPage: true })).toString("base64");
        for (const one of await page.evaluate(inked, picture)) problems.add(`${where}: ${one}`);
        drawn ??= await page.evaluate(() => window.thalwegDrawn?.().map(({ at, ...chart }) => chart) ?? []);
        // distributions have axes and lines of their own
        const button = page.locator(".tools button", { hasText: "distribution" });
        if ((await button.count()) > 0) {
          await button.click();
          for (const one of await page.evaluate(look)) problems.add(`${where}, distributions: ${one}`);
        }
      }
      await context.close();
    }
  }
  found[file] = { problems: [...problems], drawn: drawn ?? [] };
}
await browser.close();
console.log(JSON.stringify(found));

/** What is wrong with the page, without a look at its pixels. Runs in the page. */
function look() {
  const wrong = [];
  const named = (element) => {
    const around = element.closest("[data-chart], figure, section, .scroll");
    return around?.dataset?.chart ?? around?.querySelector("svg")?.getAttribute("aria-label") ?? element.className?.baseVal ?? element.className ?? element.tagName;
  };
  for (const one of document.querySelectorAll("svg, svg *")) {
    for (const { name, value } of one.attributes) {
      if (name !== "data-value" && /\b(NaN|undefined|-?Infinity)\b/.test(value)) wrong.push(`${named(one)}: ${one.tagName} has ${name}="${value.slice(0, 60)}"`);
    }
  }
  const finite = (range) => range.every(Number.isFinite) && range[0] !== range[1];
  const charts = window.thalwegDrawn?.() ?? [];
  for (const chart of charts) {
    const of = `chart ${chart.name}`;
    if (!finite(chart.x) || !finite(chart.y)) wrong.push(`${of}: axes ${chart.x} and ${chart.y}`);
    if (!chart.yLabel) wrong.push(`${of}: no title of the y axis`);
    if (!chart.xLabel && !chart.words) wrong.push(`${of}: no title of the x axis`);
    const inside = (value, [low, high]) => {
      const [from, to] = low < high ? [low, high] : [high, low];
      return value >= from - 1e-9 * (to - from) && value <= to + 1e-9 * (to - from);
    };
    for (const line of chart.lines) {
      const outside = line.points.filter(([x, y]) => !inside(x, chart.x) || !inside(y, chart.y));
      if (line.name !== "bar" && line.points.length > 1 && chart.y[0] === 0 && line.points.every(([, y]) => y === 0)) wrong.push(`${of}: ${line.label} is zero all the time, on the edge of the axis`);
      if (outside.length > 0) wrong.push(`${of}: ${outside.length} of ${line.points.length} points of ${line.label} are outside of the axes, such as ${outside[0]}`);
    }
    // an axis is for what it shows
    const values = chart.lines.flatMap((line) => line.points.map(([, y]) => y));
    const span = Math.abs(chart.y[1] - chart.y[0]);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    if (values.length > 0 && high > low && (high - low) / span < 0.35 && chart.lines.length > 0 && (Math.max(...values) - Math.min(...values)) / span < 0.05 && Math.max(...values.map(Math.abs)) < 0.2 * span)
      wrong.push(`${of}: values from ${low} to ${high} on an axis from ${chart.y[0]} to ${chart.y[1]}`);
  }
  // titles are where the charts are drawn on a canvas too
  for (const legend of document.querySelectorAll("[data-chart] .legend")) {
    const box = legend.getBoundingClientRect();
    const beside = legend.parentElement.getBoundingClientRect();
    if (box.height > 0.6 * beside.height) wrong.push(`${named(legend)}: the legend takes ${Math.round(box.height)} of ${Math.round(beside.height)} pixels`);
  }
  // nothing is cut
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
  for (const one of document.querySelectorAll("main *")) {
    if (one.closest("svg") && one.tagName !== "svg") continue;
    if (one.scrollWidth <= one.clientWidth + 1 || one.clientWidth === 0) continue;
    const style = getComputedStyle(one);
    if (style.overflowX === "visible" || style.display === "inline") continue;
    if (style.overflowX === "hidden" || style.overflowX === "clip") {
      if (!one.closest(".u-wrap, .bar")) wrong.push(`${named(one)}: ${one.tagName} hides ${one.scrollWidth - one.clientWidth} pixels`);
    } else if (!style.backgroundImage.includes("gradient") && one.tagName !== "PRE") wrong.push(`${named(one)}: ${one.tagName}.${one.className} scrolls sideways without a sign`);
  }
  // with room for the contents beside it, a page shows the tables of a run whole
  const ofRuns = ["group", "flow", "app", "link", "node"];
  for (const table of innerWidth >= 1300 ? document.querySelectorAll(".scroll > table") : []) {
    const more = table.parentElement.scrollWidth - table.parentElement.clientWidth;
    const first = table.querySelector("th")?.textContent ?? "";
    if (more > 1 && ofRuns.includes(first)) wrong.push(`the table whose first column is "${first}" is ${more} pixels too wide`);
  }
  // the change of two runs is in sight
  for (const table of document.querySelectorAll("table.compared")) {
    const more = table.parentElement.scrollWidth - table.parentElement.clientWidth;
    if (more > 0) wrong.push(`the change of two runs is ${more} pixels to the right of what is in sight`);
  }
  for (const picture of document.querySelectorAll("[data-chart] svg")) {
    const frame = picture.getBoundingClientRect();
    if (frame.width === 0) continue;
    for (const word of picture.querySelectorAll("text")) {
      const box = word.getBoundingClientRect();
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3) wrong.push(`${named(picture)}: the text "${word.textContent}" is cut`);
    }
    // labels of an axis do not run into each other
    const words = [...picture.querySelectorAll("text[text-anchor=middle]:not([transform*=rotate])")].map((word) => [word.getBoundingClientRect(), word.textContent]);
    for (const [index, [one, text]] of words.entries()) {
      const other = words.slice(index + 1).find(([box]) => Math.abs(box.top - one.top) < 4 && box.left < one.right - 1 && one.left < box.right - 1);
      if (other) wrong.push(`${named(picture)}: "${text}" and "${other[1]}" run into each other`);
    }
  }
  return [...new Set(wrong)];
}

/** Lines that the data have and the screen does not. Runs in the page, with a picture of all of it. */
async function inked(picture) {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const { data, width } = context.getImageData(0, 0, image.width, image.height);
  const scale = image.width / document.documentElement.clientWidth;
  const NEAR = 3;
  // a line of one pixel between two is half as dark in each
  const SHARE = 0.35;
  const ASIDE = 60;
  const ground = getComputedStyle(document.body).getPropertyValue("--card").trim();
  const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const wrong = [];
  for (const chart of window.thalwegDrawn?.() ?? []) {
    // the ink of the page is another one in the dark
    const ink = getComputedStyle(document.body).getPropertyValue("--ink").trim();
    const colours = chart.lines.map((line) => parts(line.colour === "#1d2733" ? ink : line.colour));
    const [sx, sy] = [scrollX, scrollY];
    const paper = parts(ground);
    /** Whether a pixel around a place has one of these colours, or a mixture of it with the ground. */
    const near = (left, top, wanted) => {
      for (let y = Math.round(top) - NEAR; y <= Math.round(top) + NEAR; y++) {
        for (let x = Math.round(left) - NEAR; x <= Math.round(left) + NEAR; x++) {
          const place = 4 * (y * width + x);
          const pixel = [0, 1, 2].map((at) => data[place + at] - paper[at]);
          for (const colour of wanted) {
            const way = colour.map((value, at) => value - paper[at]);
            const share = pixel.reduce((sum, value, at) => sum + value * way[at], 0) / way.reduce((sum, value) => sum + value * value, 0);
            if (share >= SHARE && Math.hypot(...pixel.map((value, at) => value - share * way[at])) < ASIDE) return true;
          }
        }
      }
      return false;
    };
    chart.lines.forEach((line, index) => {
      if (line.points.length === 0 || line.name === "mark") return;
      const step = Math.max(Math.floor(line.points.length / 40), 1);
      // what lies on an edge of the panel is under the line of the axis
      const edge = ([x, y]) => [...chart.x].some((end) => Math.abs(x - end) < 1e-6 * Math.abs(chart.x[1] - chart.x[0])) || [...chart.y].some((end) => Math.abs(y - end) < 0.005 * Math.abs(chart.y[1] - chart.y[0]));
      const sample = line.points.filter((point, at) => at % step === 0 && !edge(point));
      let missing = 0;
      let own = 0;
      for (const [x, y] of sample) {
        const [left, top] = chart.at(x, y);
        const place = [(left + sx) * scale, (top + sy) * scale];
        if (near(...place, [colours[index]])) own++;
        // another line can be in front
        else if (!near(...place, colours)) missing++;
      }
      if (missing > 0.1 * sample.length) wrong.push(`chart ${chart.name}: ${missing} of ${sample.length} points of ${line.label} are not on the screen`);
      else if (own === 0 && sample.length > 0 && chart.lines.length === 1) wrong.push(`chart ${chart.name}: ${line.label} has no point in its colour`);
    });
  }
  return wrong;
}
