// Goes through a page with the Tab key.

const STOPS = "a[href], button, input, select, summary, [tabindex='0'], [contenteditable='true']";

/** Links and controls of a page that has just been opened that Tab does not reach, or that do not show that they have the focus. */
export async function walk(page) {
  const all = await page.evaluate((stops) => {
    const there = [...document.querySelectorAll(stops)].filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0 && !one.disabled);
    there.forEach((one, number) => (one.dataset.stop = number));
    return there.map((one) => one.outerHTML.slice(0, 100));
  }, STOPS);
  const reached = new Set();
  const problems = [];
  for (let press = 0; press < all.length + 4; press++) {
    await page.keyboard.press("Tab");
    const [stop, seen] = await page.evaluate(async () => {
      const outlined = (one) => {
        const style = one && getComputedStyle(one);
        return style?.outlineStyle !== undefined && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      };
      const here = document.activeElement;
      // an editor shows the focus of its text at its frame, a moment later
      const shown = () => outlined(here) || outlined(here.closest(".cm-editor"));
      for (let look = 0; look < 20 && !shown(); look++) await new Promise((done) => setTimeout(done, 50));
      return [here.dataset.stop, shown()];
    });
    if (stop === undefined || reached.has(stop)) continue;
    reached.add(stop);
    if (!seen) problems.push(`the focus is not seen: ${all[stop]}`);
  }
  return [...problems, ...all.filter((_, number) => !reached.has(String(number))).map((one) => `not reached: ${one}`)];
}
