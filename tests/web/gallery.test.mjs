// Every kind of block, on a page made of formulas with hostile names (tests/report/gallery.cpp).
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csvRows, launch, openPage, saved } from "./browser.mjs";

const gallery = join(process.env.DGAT_BIN || "build/release/bin", "report_gallery");
let browser, folder, file;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "dgat-web-"));
  file = join(folder, "gallery.html");
  execFileSync(gallery, [file]);
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function withPage(act, options) {
  const opened = await openPage(browser, file, options);
  await act(opened.page, opened);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
}

test("opens from disk without an error or a request", () => withPage(async (page) => {
  assert.equal(await page.locator("figure").count(), 13);
  assert.equal(await page.locator("figure svg").count(), 9);
}));

test("hostile names are shown as text and do nothing", () => withPage(async (page) => {
  const hostile = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>";
  assert.equal(await page.title(), hostile);
  assert.equal(await page.locator("h1").textContent(), hostile);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
}));

test("a table shows its numbers, sorts, and saves them in full", () => withPage(async (page) => {
  const results = page.locator("[data-block=results]");
  assert.deepEqual(await results.locator("tbody td:nth-child(2)").allTextContents(), ["87.50%", "81.25%", "–"]);
  await results.getByRole("button", { name: "test" }).click();
  assert.deepEqual(await results.locator("tbody td:nth-child(2)").allTextContents(), ["81.25%", "87.50%", "–"]);
  const { name, bytes } = await saved(page, results.getByRole("button", { name: "CSV" }));
  assert.equal(name, "results.csv");
  assert.deepEqual(csvRows(bytes).slice(0, 2), [["split", "test", "remark"], ["0", "0.875", "a,b"]]);
}));

test("curves answer hover and arrow keys, and switch to a log axis", () => withPage(async (page) => {
  const chart = page.locator("[data-block=loss-per-split] svg");
  await chart.hover();
  assert.match(await page.locator(".tooltip").textContent(), /^step \d+split 0/);
  await chart.focus();
  await page.keyboard.press("Home");
  assert.match(await page.locator(".tooltip").textContent(), /^step 0split 01\.65/);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".tooltip").textContent(), /^step 5/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".tooltip").isVisible(), false);
  const before = await chart.locator("path.line").first().getAttribute("d");
  await page.locator("[data-block=loss-per-split]").getByLabel("log").check();
  assert.notEqual(await chart.locator("path.line").first().getAttribute("d"), before);
}));

test("a legend entry hides its curve", () => withPage(async (page) => {
  const figure = page.locator("[data-block=loss-per-split]");
  await figure.getByRole("button", { name: "split 3" }).click();
  assert.equal(await figure.locator("path.line").count(), 9);
}));

test("charts show their numbers as a table and save as CSV, SVG and PNG", () => withPage(async (page) => {
  for (const name of ["accuracy-over-gamma", "accuracy-by-class", "distances", "confusion", "models", "ablation", "history", "difference"]) {
    const figure = page.locator(`[data-block=${name}]`);
    await figure.locator("summary").click();
    await figure.locator("tbody tr").first().waitFor();  // the table is made when its fold opens
    assert.ok(await figure.locator("tbody tr").count() >= 2, name);
    const csv = csvRows((await saved(page, figure.getByRole("button", { name: "CSV" }))).bytes);
    assert.equal(csv.length - 1, await figure.locator("tbody tr").count());
    const svg = (await saved(page, figure.getByRole("button", { name: "SVG" }))).bytes.toString();
    assert.ok(svg.startsWith("<svg") && !svg.includes("var(--"), name);
    const png = (await saved(page, figure.getByRole("button", { name: "PNG" }))).bytes;
    assert.equal(png.subarray(1, 4).toString(), "PNG");
  }
}));

test("dots carry their samples and switches, and marks of colour the sign", () => withPage(async (page) => {
  const ablation = page.locator("[data-block=ablation]");
  assert.equal(await ablation.locator("circle.sample").count(), 5);  // one of six does not exist
  assert.equal(await ablation.locator("circle.mark").count(), 4);
  assert.equal(await ablation.locator("circle.mark.on").count(), 2);
  await ablation.locator("text.row", { hasText: "gat" }).hover();
  assert.match(await page.locator(".tooltip").textContent(), /published55\.00% ± 5\.00%/);
  const rows = csvRows((await saved(page, ablation.getByRole("button", { name: "CSV" }))).bytes);
  assert.deepEqual(rows[1], ["gat", "", "", "0.5", "0.4", "0.6", "0.55", "0.4", "0.6", ""]);
  assert.equal(await page.locator("[data-block=history] path.line").count(), 1);
  assert.equal(await page.locator("[data-block=history] circle[fill-opacity='0.7']").count(), 3);
  const colours = await page.locator("[data-block=difference] rect").evaluateAll((cells) => cells.map((cell) => cell.getAttribute("fill").match(/\d+/g).map(Number)));
  assert.ok(colours[0][0] > colours[0][2] && colours[1][0] < colours[1][2]);  // orange below zero, blue above
}));

test("the theme button goes from automatic to light to dark", () => withPage(async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(18, 21, 25)");
  await page.locator("#theme").click();
  assert.equal(await background(), "rgb(244, 245, 247)");
  await page.locator("#theme").click();
  assert.equal(await background(), "rgb(18, 21, 25)");
}, { colorScheme: "dark" }));

/** Where a node is on the screen. */
const placeOf = (page, node) => page.evaluate((n) => {
  const { view } = document.querySelector("[data-type=drawing]").graph;
  const frame = view.canvas.getBoundingClientRect();
  return { x: frame.left + view.px(n), y: frame.top + view.py(n) };
}, node);

test("a click on a node shows its attention", () => withPage(async (page) => {
  await page.locator("canvas").scrollIntoViewIfNeeded();
  const { x, y } = await placeOf(page, 17);
  await page.mouse.click(x, y);
  assert.equal(await page.locator(".panel h4").textContent(), "Node 17");
  const weights = await page.locator("#attention-row [data-value]").evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));
  assert.ok(Math.abs(weights.reduce((a, b) => a + b, 0) - 1) < 1e-3);
  assert.ok(weights.length >= 3);
  await page.getByLabel("head").selectOption("2");
  assert.match(await page.locator("#attention-row tbody tr").first().textContent(), /17.*self loop.*100\.00%/);
}));

test("a node can be chosen by keyboard, and the drawing moved", () => withPage(async (page) => {
  await page.getByLabel("Choose a node by its id").fill("5");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".panel h4").textContent(), "Node 5");
  await page.locator("canvas").focus();
  const before = await placeOf(page, 5);
  await page.keyboard.press("ArrowRight");
  const moved = await placeOf(page, 5);
  assert.equal(Math.round(before.x - moved.x), 40);
  await page.keyboard.press("Escape");
  assert.match(await page.locator(".panel").textContent(), /Click a node/);
}));

test("colours, layouts and edge states can be switched", () => withPage(async (page) => {
  const pixels = () => page.evaluate(() => document.querySelector("canvas").toDataURL());
  const settled = async () => { await page.waitForTimeout(250); return pixels(); };
  const seen = new Set([await settled()]);
  for (const mode of ["prediction", "error", "φ", "split"]) {
    await page.getByLabel("colour").selectOption(mode);
    seen.add(await settled());
  }
  await page.getByLabel("layout").selectOption("spread");
  seen.add(await settled());
  await page.getByLabel(/^added/).uncheck();
  seen.add(await settled());
  await page.getByLabel("attention as width").uncheck();
  seen.add(await settled());
  assert.equal(seen.size, 8);
}));

test("5,000 nodes and 50,000 edges stay smooth under the hand", async () => {
  const large = join(folder, "large.html");
  execFileSync(gallery, [large, "5000", "50000"]);
  const { page, troubles, close } = await openPage(browser, large);
  await page.locator("canvas").scrollIntoViewIfNeeded();
  await page.waitForSelector("canvas[data-painted]");
  // From one animation frame to the next, painting included, while the view moves in every frame.
  const frames = await page.evaluate(async () => {
    const { view } = document.querySelector("[data-type=drawing]").graph;
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let k = 0; k < 60; ++k) {
      if (k % 2) view.moveBy(7, 3); else view.zoomAt(1.03, 200, 200);
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times.sort((a, b) => a - b);
  });
  console.log(`frames while moving: median ${frames[30].toFixed(0)} ms, nine of ten within ${frames[54].toFixed(0)} ms`);
  assert.ok(frames[30] < 100, `median ${frames[30]} ms`);
  assert.deepEqual(troubles, []);
  await close();
});

test("fits a phone without scrolling sideways", () => withPage(async (page) => {
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
}, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }));

test("works without a way to store the theme", () => withPage(async (page) => {
  await page.evaluate(() => { Object.defineProperty(window, "localStorage", { get() { throw new Error("denied"); } }); });
  await page.locator("#theme").click();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
}));
