// Drives a report page in a browser as a reader would, and prints what it saw as JSON: `node browser/page.mjs BROWSER PAGE [watch NODE | read | move | fold]`.
// `tests/python/test_browser.py` compares it with the tables of the run.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { walk } from "./keyboard.mjs";

const [executablePath, file, what, node] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** More than any step needs on a busy host. */
const PATIENCE_MS = 600_000;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: PATIENCE_MS });
const seen = { problems: [] };
const text = readFileSync(file, "utf8");
const has = (id) => text.includes(`id="${id}"`);
const WIDE = { viewport: { width: 1200, height: 900 } };

async function open(options) {
  const context = await browser.newContext({ acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"], ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (error) => seen.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && seen.problems.push(message.text()));
  page.on("request", (request) => /^https?:/.test(request.url()) && seen.problems.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  if (has("thalweg-charts") || has("thalweg-panels") || has("thalweg-grids")) await page.waitForSelector("html[data-charts=ready]");
  return page;
}

/** Ids of the rules of axe-core that the page violates, with the first place of each. */
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  return found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`);
}

/** What every page must be: accessible in light and dark and on a phone, no wider than the phone, and usable by the keyboard. */
async function access() {
  for (const [name, options] of Object.entries({ light: WIDE, dark: { ...WIDE, colorScheme: "dark" }, phone: { viewport: { width: 390, height: 844 } } })) {
    const page = await open(options);
    seen[name] = await violations(page);
    seen.interactive ??= await page.locator("[data-chart] .figure, [data-chart] .chart").evaluateAll((all) => all.map((one) => one.closest("[data-chart]").dataset.chart));
    if (name === "phone") seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await page.close();
  }
  const page = await open(WIDE);
  seen.keyboard = await walk(page);
  await page.close();
}

/** A run: charts over time and the network. */
async function run() {
  const page = await open(WIDE);

  // hover: the legend shows time and values
  const rate = page.locator('[data-chart="rate"]');
  const over = rate.locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await rate.locator(".legend .at", { hasText: /^at / }).waitFor();
  seen.hover = await rate.locator(".legend").innerText();

  // zoom with the keyboard: all charts have the same range, and 0 shows all again
  const range = () => page.locator(".tools .range").innerText();
  seen.whole = await range();
  await rate.locator(".chart").focus();
  await page.keyboard.press("+");
  seen.zoomed = await range();
  await page.keyboard.press("0");
  seen.again = await range();

  // the legend: a click hides a line, a double click leaves it alone
  const entries = rate.locator(".legend button[aria-pressed]");
  await entries.first().click();
  seen.hidden = await entries.first().getAttribute("aria-pressed");
  await entries.first().click();
  await entries.first().dblclick();
  seen.alone = await entries.evaluateAll((all) => all.map((one) => one.getAttribute("aria-pressed")));
  await entries.first().dblclick();

  // files
  async function saved(name) {
    const [download] = await Promise.all([page.waitForEvent("download"), rate.locator(`.files button:has-text("${name}")`).click()]);
    return readFileSync(await download.path());
  }
  seen.csv = (await saved("CSV")).toString("utf8");
  seen.svg = (await saved("SVG")).toString("utf8").slice(0, 60);
  seen.pdf = (await saved("PDF")).toString("latin1").slice(0, 5);
  seen.png = (await saved("PNG")).toString("latin1").slice(1, 4);

  // the network: its time, its queues, its packets
  const motion = page.locator(".motion");
  const at = async () => Number((await motion.locator("output").innerText()).split(" ")[0]);
  await motion.locator("input").fill("500");
  seen.middle = await at();
  seen.queue = await page.locator('[data-queue="link.bottleneck"]').getAttribute("data-value");
  await motion.locator("button.play").click();
  await page.waitForFunction(() => Number(document.querySelector(".motion output").textContent.split(" ")[0]) > 10);
  await motion.locator("button.play").click();
  seen.played = await at();
  await motion.locator("button:has-text('packets')").click();
  await motion.locator("input").fill("500");
  seen.packetTime = await at();
  seen.packets = await page.locator(".packet").evaluateAll((dots) => dots.filter((dot) => dot.style.display !== "none").length);
  await page.locator('[data-hit="bottleneck"]').click({ force: true });
  seen.chosen = await page.locator(".chosen").innerText();
  seen.focused = await page.locator('[data-chart="backlog"] .legend button[aria-pressed=true]').allInnerTexts();
  await page.locator(".chosen button:has-text('all again')").click();

  // a node that is dragged takes its neighbours along; springs arrange all nodes, and the drawing comes back
  const places = () => page.locator("[data-network] [data-node]").evaluateAll((all) => Object.fromEntries(all.map((one) => [one.dataset.node, one.getAttribute("transform")])));
  const arrange = motion.locator("button:has-text('springs')");
  await arrange.click();
  seen.arranged = await places();
  await arrange.click();
  seen.restored = await places();
  const node = page.locator('[data-network] [data-node="router_left"]');
  await node.scrollIntoViewIfNeeded();
  const held = await node.boundingBox();
  await page.mouse.move(held.x + held.width / 2, held.y + held.height / 2);
  await page.mouse.down();
  await page.mouse.move(held.x + 30, held.y + 30, { steps: 3 });
  await page.waitForFunction(() => [...document.querySelectorAll("[data-network] [data-node]")].every((one) => !/translate\(0\.00 0\.00\)/.test(one.getAttribute("transform") ?? "translate(0.00 0.00)")));
  await page.mouse.up();
  seen.dragged = await places();

  // only the keyboard: the first stop inside the network is play
  await motion.locator("button.play").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  seen.stepped = await at();
  seen.scatter = await scattered(page, "scatter");
}

/** What the legend says of each box plot of a chart, from left to right. */
async function boxes(page, chart) {
  const said = [];
  // the box is the only line with five corners
  const places = await chart.locator("svg polyline").evaluateAll((all) =>
    all.filter((one) => one.points.length === 5).map((one) => {
      const box = one.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }),
  );
  for (const [x, y] of places) {
    await page.mouse.move(x, y);
    said.push(await chart.locator(".legend .at").innerText());
  }
  return said;
}

/** What the legend says of each point of a scatter, and its number of ellipses. */
async function scattered(page, name) {
  const chart = page.locator(`[data-chart="${name}"]`);
  await chart.scrollIntoViewIfNeeded();
  const said = [];
  for (const [x, y] of await chart.locator("svg rect[width='8']").evaluateAll((all) => all.map((one) => [one.getBoundingClientRect().x + 4, one.getBoundingClientRect().y + 4]))) {
    await page.mouse.move(x, y);
    said.push((await chart.locator(".legend .at").innerText()).replace(/\s+/g, " "));
  }
  return { said, ellipses: await chart.locator("svg polygon").count() };
}

/** A comparison: series of every run, and box plots over seeds. */
async function comparison() {
  const page = await open(WIDE);
  seen.charts = await page.locator("[data-chart] .chart").count();
  const rate = page.locator('[data-chart="rate"]');
  const over = rate.locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  for (const name of ["rate", "window"]) await page.locator(`[data-chart="${name}"] .legend .at`, { hasText: /^at / }).waitFor();
  seen.hover = await rate.locator(".legend").innerText();
  seen.hoverOther = await page.locator('[data-chart="window"] .legend').innerText();
  const range = () => page.locator(".tools .range").innerText();
  seen.whole = await range();
  await rate.locator(".chart").focus();
  await page.keyboard.press("+");
  seen.zoomed = await range();
  await page.keyboard.press("0");
  seen.again = await range();
  const [download] = await Promise.all([page.waitForEvent("download"), rate.locator('.files button:has-text("CSV")').click()]);
  seen.csv = readFileSync(await download.path(), "utf8");
  await rate.locator('.files button:has-text("copy Python")').click();
  seen.python = await page.evaluate(() => navigator.clipboard.readText());
  const fairness = page.locator('[data-chart="flows.fairness"]');
  await fairness.scrollIntoViewIfNeeded();
  seen.boxes = await boxes(page, fairness);
  seen.scatter = await scattered(page, "throughput-over-delay");
}

/** A paper: figures of several panels. */
async function paper() {
  const page = await open(WIDE);
  seen.charts = await page.locator("[data-chart] .figure").count();
  const first = page.locator('[data-chart="figure-1"]');
  const panels = first.locator(".panel");
  await first.scrollIntoViewIfNeeded();
  const ticks = () => panels.evaluateAll((all) => all.map((one) => [...one.querySelectorAll("text[text-anchor=middle]")].map((text) => text.textContent).join(" ").replace(/\(.\)/, "")));
  const second = await panels.nth(1).boundingBox();
  // along a line of the panel, from its left
  for (let at = 0.3; at < 0.9 && !/:/.test(seen.hover ?? ""); at += 0.02) {
    await page.mouse.move(second.x + second.width * at, second.y + second.height * 0.45);
    seen.hover = (await first.locator(".legend .at").innerText()).replace(/\s+/g, " ");
  }
  seen.ticksBefore = await ticks();
  await page.mouse.move(second.x + second.width * 0.3, second.y + second.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(second.x + second.width * 0.6, second.y + second.height * 0.5, { steps: 4 });
  await page.mouse.up();
  seen.ticksZoomed = await ticks();
  await first.locator(".figure").focus();
  await page.keyboard.press("0");
  seen.ticksAgain = await ticks();
  for (let press = 0; press < 4; press++) await page.keyboard.press("+");
  seen.ticksKey = await ticks();
  await page.keyboard.press("Home");
  const count = async (what) => first.locator(`svg ${what}`).count();
  const [lines, areas] = [await count("polyline"), await count("polygon")];
  await first.locator(".legend button", { hasText: "first" }).click();
  seen.lines = [lines, await count("polyline")];
  seen.areas = [areas, await count("polygon")];
  await first.locator(".legend button", { hasText: "first" }).click();

  const bars = page.locator('[data-chart="figure-2"]');
  await bars.scrollIntoViewIfNeeded();
  const said = async (places) => {
    const texts = [];
    for (const [x, y] of places) {
      await page.mouse.move(x, y);
      texts.push((await bars.locator(".legend .at").innerText()).replace(/\s+/g, " "));
    }
    return texts;
  };
  seen.bars = await said(await bars.locator("svg rect").evaluateAll((all) => all.slice(1).map((one) => [one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2, one.getBoundingClientRect().bottom - 8])));
  seen.printed = await said(await bars.locator("svg polyline").evaluateAll((all) => all.filter((one) => one.points.length === 5).map((one) => [one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2, one.getBoundingClientRect().y + one.getBoundingClientRect().height / 2])));
  async function saved(name) {
    const [download] = await Promise.all([page.waitForEvent("download"), first.locator(`.files button:has-text("${name}")`).click()]);
    return readFileSync(await download.path());
  }
  seen.csv = (await saved("CSV")).toString("utf8");
  seen.svg = (await saved("SVG")).toString("utf8").slice(0, 60);
  seen.pdf = (await saved("PDF")).toString("latin1").slice(0, 5);
  await first.locator('.files button:has-text("copy Python")').click();
  seen.python = await page.evaluate(() => navigator.clipboard.readText());
}

/** A run whose network is worth watching: what it shows at each of its events. */
async function watch() {
  const page = await open(WIDE);
  const motion = page.locator(".motion");
  const next = motion.locator("button:has-text('next event')");
  seen.moments = [];
  while (await next.isEnabled()) {
    await next.click();
    seen.moments.push(
      await page.evaluate(() => {
        const visible = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.style.display !== "none");
        return {
          at: Number(document.querySelector(".motion output").textContent.split(" ")[0]),
          words: document.querySelector(".near").innerText,
          tree: visible("[data-tree]").map((one) => one.dataset.port),
          pending: Object.fromEntries([...document.querySelectorAll("[data-pending]")].map((one) => [one.dataset.pending, Number(one.dataset.value)])),
          orders: visible("[data-network] .order").length,
        };
      }),
    );
  }
  // a node: its series, of which one leads to its chart
  await motion.locator("select").last().selectOption(`node ${node}`);
  seen.node = await page.locator(".chosen").innerText();
  await page.locator(".chosen .go").first().click();
  await page.waitForFunction(() => document.querySelector("[data-chart]").getBoundingClientRect().top < innerHeight);
}

/** A sweep: metrics over the grid. */
async function sweep() {
  const page = await open(WIDE);
  const chart = page.locator('[data-chart="flows.throughput"]');
  const picture = chart.locator(".picture");
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  seen.hovers = [];
  // from left to right, at the height of each point
  const rings = await chart.locator("svg rect[width='5']").evaluateAll((all) => all.map((one) => [one.getBoundingClientRect().x + 3, one.getBoundingClientRect().y + 3]));
  for (const [x, y] of rings.length > 0 ? rings : [[box.x + 80, box.y + 80]]) {
    await page.mouse.move(x, y);
    seen.hovers.push(await chart.locator(".legend .at").innerText());
  }
  const first = chart.locator(".legend button:not(.kind)").first();
  await first.click();
  seen.drawn = [rings.length, await chart.locator("svg rect[width='5']").count()];
  await first.click();
  const [download] = await Promise.all([page.waitForEvent("download"), chart.locator('.files button:has-text("CSV")').click()]);
  seen.csv = readFileSync(await download.path(), "utf8");
  await chart.locator(".legend .kind", { hasText: "box plots" }).click();
  seen.boxes = await boxes(page, chart);
  seen.scatter = await scattered(page, "throughput-over-delay");
}

/** A run of many flows: points that are drawn when the visible time changes, and when it rests. */
async function move() {
  const page = await open(WIDE);
  const chart = page.locator('[data-chart="rate"] .chart');
  await chart.scrollIntoViewIfNeeded();
  const groups = page.locator(".tools button", { hasText: "groups" });
  if ((await groups.getAttribute("aria-pressed")) === "true") await groups.click();
  await page.evaluate(() => {
    window.drawn = 0;
    const { lineTo } = Path2D.prototype;
    Path2D.prototype.lineTo = function (...place) {
      window.drawn++;
      lineTo.apply(this, place);
    };
  });
  // each change is drawn within the task that makes it; what is drawn at rest comes by a timer
  seen.moving = await page.evaluate(async () => {
    const counts = [];
    for (const key of ["+", "+", "ArrowRight", "-", "ArrowLeft"]) {
      window.drawn = 0;
      document.querySelector('[data-chart="rate"] .chart').dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      for (let turn = 0; turn < 50; turn++) await null;
      counts.push([document.querySelector(".tools .range").textContent, window.drawn]);
    }
    window.drawn = 0;
    return counts;
  });
  await page.waitForFunction(() => window.drawn > 0);
  seen.resting = await page.evaluate(() => window.drawn);
}

/** A long page: what is folded, and what opens it. */
async function fold() {
  const page = await open(WIDE);
  const pieces = () => page.locator("details.piece").evaluateAll((all) => all.map((one) => [one.querySelector("summary").textContent.replace(/[✗◐–✓]/, "").replace(/\s+/g, " ").trim(), one.hidden ? "hidden" : one.open ? "open" : "folded"]));
  seen.pieces = { first: await pieces() };
  const filter = page.locator('[data-filter^="claims-table"]');
  await filter.locator('[data-verdict="reproduced"]').click();
  seen.pieces.filtered = await pieces();
  await filter.locator('[data-verdict=""]').click();
  seen.pieces.unfiltered = await pieces();
  await filter.locator("input").fill("number 11");
  seen.pieces.searched = await pieces();
  seen.rows = await page.locator(".claims tbody tr:visible").count();
  await filter.locator("input").fill("");
  seen.pieces.unsearched = await pieces();

  // paper has no folds, and the page has them again afterwards
  await page.evaluate(() => addEventListener("beforeprint", () => (window.printed = [...document.querySelectorAll("details.piece")].every((one) => one.open))));
  await page.pdf();
  seen.printed = await page.evaluate(() => window.printed);
  seen.pieces.afterPrint = await pieces();

  // a link opens what it leads to, also a second time
  await page.locator('nav.contents a[href="#figure-2"]').click();
  await page.locator('[data-chart="figure-2"] svg').first().waitFor();
  seen.pieces.linked = await pieces();
  seen.width = (await page.locator('[data-chart="figure-2"] svg').first().boundingBox()).width;
  await page.locator("summary:has(#figure-2)").click();
  await page.locator('nav.contents a[href="#figure-2"]').click();
  await page.locator('[data-chart="figure-2"] svg').first().waitFor();
  await page.evaluate(() => (location.hash = "S-11"));
  await page.locator("#S-11").waitFor();
  seen.inView = await page.locator("#S-11").evaluate(async (row) => {
    for (let look = 0; look < 100; look++) {
      const { top, bottom } = row.getBoundingClientRect();
      if (top >= 0 && bottom <= innerHeight) return true;
      await new Promise((done) => setTimeout(done, 50));
    }
    return false;
  });

  const all = page.locator("[data-unfold]", { hasText: "figures" });
  seen.word = await all.innerText();
  const button = await all.elementHandle();
  await button.click();
  seen.pieces.unfolded = await pieces();
  await page.waitForFunction((one) => one.textContent === "fold all", button);
  await button.click();
  seen.pieces.foldedAgain = await pieces();
  await page.close();
}

const reader = has("thalweg-network") ? run : has("thalweg-charts") ? comparison : has("thalweg-grids") ? sweep : paper;
if (what !== "read") await (what === "watch" ? watch : what === "move" ? move : what === "fold" ? fold : reader)();
if (what !== "move") await access();
await browser.close();
console.log(JSON.stringify(seen));
