// Drives a report page in a browser as a reader would, and prints what it saw as JSON: `node browser/page.mjs BROWSER PAGE`.
// `tests/python/test_browser.py` compares it with the tables of the run.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const seen = { problems: [] };

async function open(options) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => seen.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && seen.problems.push(message.text()));
  page.on("request", (request) => /^https?:/.test(request.url()) && seen.problems.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-charts=ready]");
  return page;
}

/** Ids of the rules of axe-core that the page violates, with the first place of each. */
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  return found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`);
}

/** A run: charts over time and the network. */
async function run() {
  const page = await open({ viewport: { width: 1200, height: 900 } });
  seen.light = await violations(page);

  // hover: the legend shows time and values
  const rate = page.locator('[data-chart="rate"]');
  const over = rate.locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
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
  await page.waitForTimeout(600);
  await motion.locator("button.play").click();
  seen.played = await at();
  await motion.locator("button:has-text('packets')").click();
  await motion.locator("input").fill("500");
  seen.packetTime = await at();
  seen.packets = await page.locator(".packet").evaluateAll((dots) => dots.filter((dot) => dot.style.display !== "none").length);
  await page.locator('[data-hit="bottleneck"]').click({ force: true });
  seen.chosen = await page.locator(".chosen").innerText();
  seen.focused = await page.locator('[data-chart="backlog"] .legend button[aria-pressed=true]').allInnerTexts();
  await page.locator(".chosen button").click();

  // only the keyboard: the first stop inside the network is play
  await motion.locator("button.play").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  seen.stepped = await at();

  const dark = await open({ viewport: { width: 1200, height: 900 }, colorScheme: "dark" });
  seen.dark = await violations(dark);
  const phone = await open({ viewport: { width: 390, height: 844 } });
  seen.phone = await violations(phone);
  seen.overflow = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);

  // how long a frame takes while the network plays
  seen.frames = await page.evaluate(async () => {
    document.querySelector(".motion button.play").click();
    const times = [];
    await new Promise((done) => {
      const next = (now) => (times.push(now), times.length < 60 ? requestAnimationFrame(next) : done());
      requestAnimationFrame(next);
    });
    return times.slice(1).map((now, index) => now - times[index]);
  });
}

/** A sweep: metrics over the grid. */
async function sweep() {
  const page = await open({ viewport: { width: 1200, height: 900 } });
  seen.light = await violations(page);
  const chart = page.locator('[data-chart="flows.throughput_total"]');
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
  await chart.locator(".legend button").first().click();
  seen.drawn = [rings.length, await chart.locator("svg rect[width='5']").count()];
  await chart.locator(".legend button").first().click();
  const [download] = await Promise.all([page.waitForEvent("download"), chart.locator('.files button:has-text("CSV")').click()]);
  seen.csv = readFileSync(await download.path(), "utf8");
  seen.dark = await violations(await open({ viewport: { width: 1200, height: 900 }, colorScheme: "dark" }));
  seen.phone = await violations(await open({ viewport: { width: 390, height: 844 } }));
}

await (readFileSync(file, "utf8").includes('id="thalweg-grids"') ? sweep() : run());
await browser.close();
console.log(JSON.stringify(seen));
