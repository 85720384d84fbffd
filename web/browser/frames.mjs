// How long frames take while a chart is moved, zoomed and hovered, as JSON: `node browser/frames.mjs BROWSER PAGE`.
// `tools/frames.py` makes the page and calls it.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
/** Frames that are measured in each movement. */
const FRAMES = 180;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
page.setDefaultTimeout(600_000);
page.setDefaultNavigationTimeout(600_000);
const devtools = await page.context().newCDPSession(page);
// processor time of the page's thread, which other load on the machine does not change
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
const busyS = async () => (await devtools.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value;

await page.goto(pathToFileURL(file).href);
await page.waitForSelector("html[data-charts=ready]");
const groups = page.locator(".tools button", { hasText: "groups" });
if ((await groups.count()) > 0 && (await groups.getAttribute("aria-pressed")) === "true") await groups.click();
const chart = page.locator('[data-chart="rate"] .chart');
await chart.scrollIntoViewIfNeeded();
// the first drawing of all lines
await page.waitForTimeout(2000);

/** Median, 95th percentile and maximum. */
function spread(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share) => Number((sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(2));
  return { median_ms: at(0.5), p95_ms: at(0.95), longest_ms: at(1) };
}

/**
 * Changes something in each frame: `keys` in turn, or the place of the pointer without keys. Times between frames, processor time of the scripts
 * of a frame and of the drawing of all details afterwards, from a trace, and processor time of everything that the page does, per frame.
 */
async function move(keys) {
  await browser.startTracing(page, { categories: ["devtools.timeline"] });
  const before = await busyS();
  const times = await page.evaluate(
    async ([keys, frames]) => {
      const one = document.querySelector('[data-chart="rate"] .chart');
      const over = one.querySelector(".u-over");
      const { left, top, width, height } = over.getBoundingClientRect();
      const times = [];
      await new Promise((done) => {
        const next = (now) => {
          times.push(now);
          if (times.length > frames) return done();
          if (keys.length > 0) one.dispatchEvent(new KeyboardEvent("keydown", { key: keys[Math.floor(times.length / 10) % keys.length], bubbles: true }));
          else over.dispatchEvent(new MouseEvent("mousemove", { clientX: left + (width * (times.length % 60)) / 60, clientY: top + height / 2, bubbles: true }));
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      });
      return times;
    },
    [keys, FRAMES],
  );
  const busy = (1000 * ((await busyS()) - before)) / FRAMES;
  // until all details are drawn
  await page.waitForTimeout(1500);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString("utf8"));
  const named = (name) => traceEvents.filter((one) => one.name === name && one.tdur !== undefined).map((one) => one.tdur / 1000);
  return {
    between: spread(times.slice(1).map((now, index) => now - times[index])),
    scripts: spread(named("FireAnimationFrame")),
    details_ms: Number(Math.max(0, ...named("TimerFire")).toFixed(2)),
    page_ms: Number(busy.toFixed(2)),
  };
}

const seen = {};
seen.zoom = await move(["+", "-"]);
for (let press = 0; press < 4; press++) await chart.press("+");
await page.waitForTimeout(1500);
seen.pan = await move(["ArrowRight", "ArrowLeft"]);
seen.hover = await move([]);
seen.legend = await page.locator('[data-chart="rate"] .legend .plain').innerText();
await browser.close();
console.log(JSON.stringify(seen));
