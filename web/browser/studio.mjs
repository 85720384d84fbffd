// Drives the studio in a browser as a newcomer would, and prints what it saw as JSON:
// `node browser/studio.mjs BROWSER ADDRESS FILE [FOLDER]`; with FOLDER, pictures are written to it.
// `tests/python/test_studio.py` starts the studio and compares what was seen.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { walk } from "./keyboard.mjs";

const [executablePath, address, file, pictures] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const seen = { problems: [], violations: {}, overflow: {}, keyboard: {} };
const origin = new URL(address).origin;

/** More than any step needs on a busy host. */
const PATIENCE_MS = 600_000;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: PATIENCE_MS });
const WIDE = { viewport: { width: 1280, height: 860 } };
const PHONE = { viewport: { width: 390, height: 844 } };

async function open(place, options = {}) {
  const context = await browser.newContext({ ...WIDE, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (error) => seen.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && seen.problems.push(message.text()));
  page.on("request", (request) => /^(https?|wss?):/.test(request.url()) && new URL(request.url()).host !== new URL(origin).host && seen.problems.push(`asks for ${request.url()}`));
  await page.goto(`${address}${place}`);
  return page;
}

async function look(page, name) {
  // axe runs in the page; the policy of the studio lets only its own scripts in, so it comes by the debugger
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { iframes: false }));
  seen.violations[name] = found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
  seen.overflow[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

const others = {
  dark: await open("", { colorScheme: "dark" }),
  phone: await open("", PHONE),
  "phone-dark": await open("", { ...PHONE, colorScheme: "dark" }),
};

/** The same place in a dark window and on a phone, light and dark. */
async function everywhere(place, name, ready) {
  for (const [suffix, page] of Object.entries(others)) {
    await page.goto(`${address}#/`);
    await page.waitForSelector("h1:text('Scenarios')");
    await page.goto(`${address}${place}`);
    await ready(page);
    await look(page, `${name}-${suffix}`);
  }
}

// the gallery
const page = await open("");
const drawn = (one) => one.waitForSelector(".card .picture svg");
await drawn(page);
seen.cards = await page.locator(".card h3").allInnerTexts();
await page.waitForTimeout(400);
await look(page, "gallery");
await everywhere("#/", "gallery", drawn);

// the editor: a mistake is told under its line while one types, and goes when it is mended
await page.locator(`a.card[href*="${encodeURIComponent(file)}"]`).click();
await page.waitForSelector(".badge.good");
const line = page.locator(".cm-line", { hasText: /^scheme\s*= "reno"/ }).first();
await line.click();
await page.keyboard.press("End");
await page.keyboard.press("ArrowLeft");
await page.keyboard.press("Backspace");
await page.keyboard.type("x");
await page.waitForSelector(".under.error");
await page.keyboard.press("Escape");
seen.under = await page.locator(".under.error").first().innerText();
seen.wrongLine = await page.locator(".under.error").first().evaluate((node) => node.previousElementSibling.textContent);
seen.verdict = await page.locator(".verdict").innerText();
seen.disabled = await page.locator("button.main").isDisabled();
// the picture and the facts of the text before it stay
seen.kept = [await page.locator("aside .past .network svg").count(), await page.locator("aside .past dd").allInnerTexts(), await page.locator("aside p", { hasText: "last text without an error" }).count()];
await look(page, "error");
await everywhere(`#/edit/${encodeURIComponent(file)}`, "error", (one) => one.waitForSelector(".under.error"));

// completion: the schemes of the schema
await page.keyboard.press("Backspace");
await page.keyboard.press("Control+Space");
await page.waitForSelector(".cm-tooltip-autocomplete li");
await page.waitForTimeout(300);
seen.completed = await page.locator(".cm-tooltip-autocomplete li .cm-completionLabel").allInnerTexts();
if (pictures) await page.screenshot({ path: `${pictures}/completion.png` });
await page.keyboard.press("Escape");
await page.keyboard.type("o");
await page.waitForSelector(".badge.good");
seen.mended = await page.locator(".under").count();
seen.past = await page.locator("aside .past").count();
await look(page, "editor");
await everywhere(`#/edit/${encodeURIComponent(file)}`, "editor", (one) => one.waitForSelector(".badge.good"));

// run: live charts, the same in a second browser
await page.keyboard.press("Control+Enter");
await page.waitForSelector("progress");
const place = new URL(page.url()).hash;
const second = await open(place, { colorScheme: "dark" });
await page.waitForSelector(".plate .u-over");
await second.waitForSelector(".plate .u-over");
// the axis ends soon after what is recorded, not at the planned end
seen.range = await page.locator(".tools .range").innerText();
seen.live = await page.locator(".progress span").innerText();
seen.liveElsewhere = await second.locator(".progress span").innerText();
seen.flows = await page.locator("td.name").allInnerTexts();
seen.charts = await page.locator("figcaption").allInnerTexts();
await look(page, "live");
await look(second, "live-dark");
await others.phone.goto(`${address}${place}`);
await others.phone.waitForSelector(".plate .u-over");
await look(others.phone, "live-phone");
// the second browser stops it
await second.locator("button", { hasText: "Stop" }).click();
await page.waitForSelector("iframe");
await second.waitForSelector("iframe");
seen.state = await page.locator(".actions .badge").innerText();
const frame = page.frameLocator("iframe");
await frame.locator("html[data-charts=ready]").waitFor();
seen.report = await frame.locator("h1").innerText();
seen.folder = await page.locator(".facts-line code").last().innerText();
await page.waitForTimeout(500);
// the studio shows logo and title: the page in the frame does not repeat them, and has the only bar to scroll
seen.brand = await frame.locator(".brand").isVisible();
seen.repeated = (await frame.locator("h1").boundingBox()).width > 1;
seen.heading = await page.locator("h1").innerText();
seen.here = await frame.locator("nav.contents a.here").allInnerTexts();
seen.bar = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
await look(page, "report");
await others.phone.waitForSelector("iframe");
await look(others.phone, "report-phone");
await look(second, "report-dark");

// a sweep, cell by cell
await page.goto(`${address}#/edit/${encodeURIComponent("sweep.toml")}`);
await page.waitForSelector(".badge.good");
await page.locator("button.main").click();
await page.waitForSelector(".cell.running, .cell.done");
await page.waitForSelector(".cell.done");
seen.cells = await page.locator(".cell").count();
await look(page, "sweep");
await page.waitForSelector("iframe");
seen.sweep = await page.frameLocator("iframe").locator("h1").innerText();

// results, and a comparison
await page.goto(`${address}#/results`);
await page.waitForSelector("table");
seen.results = await page.locator("tbody td.title a").allInnerTexts();
await look(page, "results");
await everywhere("#/results", "results", (one) => one.waitForSelector("table"));
await page.locator("tbody td.title a", { hasText: "Reno and CUBIC" }).last().click();
await page.waitForSelector("iframe");
await page.frameLocator("iframe").locator("html[data-framed=titled]").waitFor();
seen.opened = [await page.locator("h1").innerText(), await page.locator("p.folder").innerText()];
await look(page, "result");
await page.goto(`${address}#/results`);
const boxes = page.locator("input[type=checkbox]");
for (let index = 0; index < 2; index++) await boxes.nth(index).check();
await page.locator("button.main").click();
await page.waitForSelector("iframe");
const compared = page.frameLocator("iframe").locator("h1");
seen.compared = await compared.innerText();
// the studio does not know this title
seen.comparedShown = (await compared.boundingBox()).width > 1;
await page.waitForTimeout(500);
await look(page, "comparison");

await page.goto(`${address}#/papers`);
await page.waitForSelector(".card, p.soft");
await look(page, "papers");
await everywhere("#/papers", "papers", (one) => one.waitForSelector(".card, p.soft"));

// only the keyboard: every control of every place, and a scenario that is opened, mended and left
for (const [name, place, ready] of [["gallery", "#/", ".card .picture svg"], ["editor", `#/edit/${encodeURIComponent(file)}`, ".badge.good"], ["results", "#/results", "table"], ["papers", "#/papers", ".card, p.soft"]]) {
  const fresh = await open(place);
  await fresh.waitForSelector(ready);
  seen.keyboard[name] = await walk(fresh);
  await fresh.close();
}
const keys = await open("#/");
await keys.waitForSelector(`a.card[href*="${encodeURIComponent(file)}"]`);
/** Presses Tab until an element has the focus. */
async function reach(selector) {
  for (let press = 0; press < 200; press++) {
    if (await keys.evaluate((selector) => document.activeElement.matches(selector), selector)) return;
    await keys.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${selector}`);
}
await reach(`a.card[href*="${encodeURIComponent(file)}"]`);
await keys.keyboard.press("Enter");
await keys.waitForSelector(".badge.good");
await reach(".cm-content");
await keys.keyboard.press("Control+End");
await keys.keyboard.type("wrong = 1");
await keys.waitForSelector(".under.error");
// the list of completions is open; Escape closes it, and the text stays
await keys.keyboard.press("Escape");
await keys.waitForSelector(".cm-tooltip-autocomplete", { state: "detached" });
for (let press = 0; press < "wrong = 1".length; press++) await keys.keyboard.press("Backspace");
await keys.waitForSelector(".badge.good");
await keys.keyboard.press("Escape");
await reach("a[href='#/results']");
await keys.keyboard.press("Enter");
await keys.waitForSelector("h1:text('Results')");
seen.left = new URL(keys.url()).hash;
await keys.close();

// a new scenario
await page.goto(`${address}#/new/tcp`);
await page.waitForSelector(".badge.good");
await page.locator("button", { hasText: "Save" }).click();
await page.waitForURL(/#\/edit\//);
seen.made = decodeURIComponent(new URL(page.url()).hash);

await browser.close();
console.log(JSON.stringify(seen));
