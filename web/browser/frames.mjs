// How long frames take while the visible time of a chart changes, as JSON: `node browser/frames.mjs BROWSER PAGE`.
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

/** Presses the keys in turn, one before each frame; times between frames in ms, and processor time of the page per frame. */
async function move(keys) {
  const before = await busyS();
  const times = await page.evaluate(
    async ([keys, frames]) => {
      const one = document.querySelector('[data-chart="rate"] .chart');
      const times = [];
      await new Promise((done) => {
        const next = (now) => {
          times.push(now);
          if (times.length > frames) return done();
          one.dispatchEvent(new KeyboardEvent("keydown", { key: keys[Math.floor(times.length / 10) % keys.length], bubbles: true }));
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      });
      return times;
    },
    [keys, FRAMES],
  );
  const busy = (1000 * ((await busyS()) - before)) / FRAMES;
  const gaps = times.slice(1).map((now, index) => now - times[index]).sort((one, other) => one - other);
  await page.waitForTimeout(1000);
  const at = (share) => Number(gaps[Math.floor(share * (gaps.length - 1))].toFixed(2));
  return { median_ms: at(0.5), p95_ms: at(0.95), longest_ms: at(1), processor_ms: Number(busy.toFixed(2)) };
}

const seen = {};
seen.zoom = await move(["+", "-"]);
for (let press = 0; press < 4; press++) await chart.press("+");
await page.waitForTimeout(1500);
seen.pan = await move(["ArrowRight", "ArrowLeft"]);
seen.lines = await page.locator('[data-chart="rate"] .legend .plain').innerText();
await browser.close();
console.log(JSON.stringify(seen));
