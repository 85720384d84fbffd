// Takes the pictures of docs/gallery/film.md; `tools/film.py` prepares what they show and runs it:
// `node browser/film.mjs BROWSER FOLDER JSON`, where JSON names the terminals, the pages and the address of a studio.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, folder, told] = process.argv.slice(2);
const { terminals, page: report, motion, studio } = JSON.parse(told);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 300_000 });
const WIDTH = 1000;
const context = await browser.newContext({ viewport: { width: WIDTH, height: 640 } });
context.setDefaultTimeout(300_000);
const page = await context.newPage();
let number = 0;

async function shoot(name) {
  number++;
  await page.screenshot({ path: `${folder}/${String(number).padStart(2, "0")}-${name}.png` });
}

/** Height of the window in pixels, so that a picture has what it is about and no more. */
const tall = (height) => page.setViewportSize({ width: WIDTH, height });

/** Scrolls so that an element is this far below the upper edge. */
async function top(what, below) {
  await what.evaluate((one, below) => scrollTo({ top: one.getBoundingClientRect().top + scrollY - below, behavior: "instant" }), below);
}

for (const [index, name] of ["install", "new", "run"].entries()) {
  await page.goto(pathToFileURL(terminals[index]).href);
  await tall(Math.ceil(await page.locator("pre").evaluate((one) => one.getBoundingClientRect().height)) + 28);
  await shoot(name);
}
await tall(640);

// the page of the run, and its charts, zoomed, with values under the pointer
await page.goto(pathToFileURL(report).href);
await page.waitForSelector("html[data-charts=ready]");
await shoot("page");
const rate = page.locator('[data-chart="rate"]');
await top(rate, 110);
const chart = await rate.locator(".u-over").boundingBox();
await page.mouse.move(chart.x + chart.width * 0.2, chart.y + chart.height / 2);
await page.mouse.down();
await page.mouse.move(chart.x + chart.width * 0.55, chart.y + chart.height / 2, { steps: 5 });
await page.mouse.up();
await page.mouse.move(chart.x + chart.width * 0.5, chart.y + chart.height / 2);
await page.waitForTimeout(600);
await shoot("zoom");

// the studio
await page.goto(studio);
await page.waitForSelector(".card .picture svg");
await page.waitForTimeout(2500);
await top(page.locator("h2").nth(1), 80);
await page.waitForTimeout(2500);
await shoot("studio");
await page.goto(`${studio}#/edit/first.toml`);
await page.waitForSelector(".badge.good");
await page.locator(".cm-line", { hasText: /^scheme\s*= "cubic"/ }).first().click();
await page.keyboard.press("End");
await page.keyboard.press("ArrowLeft");
await page.keyboard.type("k");
await page.waitForSelector(".under.error");
await page.keyboard.press("Escape");
await shoot("editor");
await page.goto(`${studio}#/`);
await page.waitForSelector("h1:text('Scenarios')");
await page.goto(`${studio}#/edit/long.toml`);
await page.waitForSelector(".badge.good");
await page.locator("button.main").click();
await page.waitForSelector(".plate .u-over");
await page.waitForFunction(() => document.querySelector("progress").value > 0.4);
await tall(760);
await top(page.locator("progress"), 22);
await shoot("live");
await tall(640);
await page.locator("button", { hasText: "Stop" }).click();
await page.waitForSelector("iframe");
await page.goto(`${studio}#/edit/sweep.toml`);
await page.waitForSelector(".badge.good");
await page.locator("button.main").click();
await page.waitForFunction(() => document.querySelectorAll(".cell.done").length >= 4);
await shoot("sweep");
await page.locator("button", { hasText: "Stop" }).click();
await page.waitForSelector("iframe");

// the network at the time of a command of the controller, packets one by one
await page.goto(pathToFileURL(motion).href);
await page.waitForSelector("html[data-charts=ready]");
await page.locator(".motion button", { hasText: "packets" }).click();
await page.locator(".motion button", { hasText: "next event" }).click();
await tall(560);
await top(page.locator("[data-network]"), 60);
await page.waitForTimeout(300);
await shoot("motion");
await browser.close();
