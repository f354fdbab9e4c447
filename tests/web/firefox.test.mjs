// The pages in Firefox, where it is installed (Debian: firefox-esr).
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIREFOX, installed, launchFirefox } from "./firefox.mjs";

const gallery = join(process.env.DGAT_BIN || "build/release/bin", "report_gallery");
const options = { skip: installed ? false : `${FIREFOX} is not installed` };
let browser, folder, file;

before(async () => {
  if (!installed) return;
  folder = mkdtempSync(join(tmpdir(), "dgat-web-"));
  file = join(folder, "gallery.html");
  execFileSync(gallery, [file]);
  browser = await launchFirefox();
});
after(async () => {
  if (!installed) return;
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function withPage(act, ...size) {
  browser.troubles.length = 0;
  await browser.open(file, ...size);
  await act();
  assert.deepEqual(browser.troubles, []);
}

test("Firefox opens the page from disk with every chart, without an error or a request", options, () => withPage(async () => {
  const seen = await browser.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { ready: document.documentElement.dataset.ready, figures: document.querySelectorAll("figure").length,
      charts: [...document.querySelectorAll("figure .chart svg")].map((chart) => chart.getBoundingClientRect().height),
      title: document.title, images: document.images.length };
  });
  assert.equal(seen.ready, "true");
  assert.equal(seen.figures, 13);
  assert.equal(seen.charts.length, 9);
  assert.ok(seen.charts.every((height) => height > 80), String(seen.charts));
  assert.match(seen.title, /^<\/script>/);
  assert.equal(seen.images, 0);
}));

test("Firefox paints the drawing, and a click on a node shows its attention", options, () => withPage(async () => {
  const place = await browser.evaluate(async () => {
    const canvas = document.querySelector("canvas");
    canvas.scrollIntoView({ block: "center", behavior: "instant" });
    for (let k = 0; k < 50 && !canvas.dataset.painted; ++k) await new Promise((resolve) => setTimeout(resolve, 100));
    const { view } = document.querySelector("[data-type=drawing]").graph, frame = canvas.getBoundingClientRect();
    return { painted: canvas.dataset.painted !== undefined, x: frame.left + view.px(17), y: frame.top + view.py(17) };
  });
  assert.ok(place.painted);
  await browser.click(place.x, place.y);
  const panel = await browser.evaluate(() => ({ heading: document.querySelector(".panel h4").textContent,
    weights: [...document.querySelectorAll("#attention-row [data-value]")].map((cell) => Number(cell.dataset.value)) }));
  assert.equal(panel.heading, "Node 17");
  assert.ok(panel.weights.length >= 3);
  assert.ok(Math.abs(panel.weights.reduce((a, b) => a + b, 0) - 1) < 1e-3);
}));

test("Firefox changes the theme, folds out numbers and saves a picture", options, () => withPage(async () => {
  const seen = await browser.evaluate(async () => {
    const colours = [], saved = [];
    for (let k = 0; k < 3; ++k) {
      document.querySelector("#theme").click();
      colours.push([document.documentElement.dataset.theme ?? "auto", getComputedStyle(document.body).backgroundColor]);
    }
    URL.createObjectURL = (blob) => { saved.push(blob.type); return "data:,"; };  // what would be saved
    HTMLAnchorElement.prototype.click = () => {};
    const figure = document.querySelector("[data-block=ablation]");
    for (const button of figure.querySelectorAll(".tools button")) button.click();
    figure.querySelector("summary").click();
    for (let k = 0; k < 50 && (saved.length < 3 || !figure.querySelector("tbody tr")); ++k) await new Promise((resolve) => setTimeout(resolve, 100));
    return { colours, saved, rows: figure.querySelectorAll("tbody tr").length };
  });
  const byName = Object.fromEntries(seen.colours);
  assert.equal(byName.light, "rgb(244, 245, 247)");
  assert.equal(byName.dark, "rgb(18, 21, 25)");
  assert.equal(seen.rows, 2);
  assert.deepEqual(seen.saved.map((type) => type.split(";")[0]).sort(), ["image/png", "image/svg+xml", "text/csv"]);
}));

test("Firefox fits the page into a phone", options, () => withPage(async () => {
  assert.ok(await browser.evaluate(() => document.documentElement.scrollWidth) <= 390);
}, 390, 800));
