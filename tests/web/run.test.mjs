// A real run from the command line to the page: the numbers shown are those of summary.json.
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { actOn, csvOf, launch } from "./browser.mjs";

const dgat = join(process.env.DGAT_BIN || "build/release/bin", "dgat");
const NAME = "<script>alert(1)<script> it's";
let browser, folder, run, other, summary;

function call(...options) {
  return execFileSync(dgat, options, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, DGAT_CACHE: join(folder, "cache") } });
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "dgat-web-"));
  const data = join(folder, NAME + ".npz");
  [run, other] = [join(folder, "directional"), join(folder, "plain")];
  call("generate", "mixhop", "--mu", "0.2", "--nodes", "400", "--classes", "4", "--out", data);
  const training = [data, "--layers", "2", "--hidden", "16", "--heads", "2", "--steps", "12", "--lr", "0.01"];
  call("train", ...training, "--model", "dgat", "--rewire", "prune-far+add", "--out", run);
  call("train", ...training, "--model", "gat", "--out", other);
  summary = JSON.parse(readFileSync(join(run, "summary.json"), "utf8"));
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const withPage = (file, act) => actOn(browser, file, act);

test("train leaves a page with every section", () => withPage(join(run, "report.html"), async (page) => {
  assert.deepEqual(await page.locator("h2").allTextContents(), ["Results", "Learning", "Predictions", "Drawing",
    "Attention", "Spectrum and rewiring", "Explorer", "Graph", "Options"]);
  assert.ok(statSync(join(run, "report.html")).size < 2e6);
}));

test("a data set named like a script does nothing", () => withPage(join(run, "report.html"), async (page) => {
  assert.equal(await page.locator("h1").textContent(), `dgat on ${NAME}`);
  assert.equal(await page.locator("script").count(), 2);
}));

test("the result table holds the numbers of summary.json", () => withPage(join(run, "report.html"), async (page) => {
  const rows = await csvOf(page, "results-by-split");
  summary.splits.forEach((split, k) => assert.deepEqual(rows[k + 1].map(Number),
    [split.split, split.best_step, split.train, split.val, split.test, split.seconds]));
  const [mean, std] = rows.slice(-2);
  assert.deepEqual([mean[3], mean[4], std[3], std[4]].map(Number),
    [summary.val_mean, summary.test_mean, summary.val_std, summary.test_std]);
  const shown = await page.locator("[data-block=results-by-split] tbody tr").first().locator("td").nth(3).textContent();
  assert.equal(shown, (100 * summary.splits[0].test).toFixed(2) + "%");
}));

test("the dots are the test values, and the curves those of the log", () => withPage(join(run, "report.html"), async (page) => {
  const dots = await csvOf(page, "test-" + summary.metric);
  summary.splits.forEach((split, k) => assert.equal(Number(dots[k + 1][1]), split.test));
  assert.equal(Number(dots.at(-1)[1]), summary.test_mean);
  const log = readFileSync(join(run, "log.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const curve = (await csvOf(page, "training-loss")).slice(1);
  assert.equal(curve.length, log.length);
  for (const entry of log) {
    assert.ok(curve.some(([name, step, loss]) => name === `split ${entry.split}` && Number(step) === entry.step && Number(loss) === entry.loss));
  }
}));

test("the confusion matrix counts every test node and agrees with the test metric", () => withPage(join(run, "report.html"), async (page) => {
  const rows = (await csvOf(page, "confusion")).slice(1).map((row) => row.slice(1).map(Number));
  const total = rows.flat().reduce((a, b) => a + b, 0), right = rows.reduce((sum, row, k) => sum + row[k], 0);
  assert.equal(total, 80 * summary.splits.length);  // 20% of 400 nodes
  assert.ok(Math.abs(right / total - summary.test_mean) < 1e-6);
}));

test("the rewiring table and the drawing agree with summary.json", () => withPage(join(run, "report.html"), async (page) => {
  const [report] = summary.rewiring;
  const rows = Object.fromEntries((await csvOf(page, "rewiring-prune-far-add")).slice(1).map((row) => [row[0], row.slice(1).map(Number)]));
  assert.deepEqual(rows.edges, [report.edges_before, report.edges_after]);
  assert.equal(rows.dropped[1], report.dropped);
  assert.equal(rows.added[1], report.added);
  const states = await page.evaluate(() => {
    const { model } = document.querySelector("[data-type=drawing]").graph;
    return [0, 1, 2].map((state) => model.state.filter((each) => each === state).length);
  });
  assert.equal(states[0] + states[1], report.edges_before);
  assert.equal(states[0] + states[2], report.edges_after);
}));

test("homophily is shown with the number of edges that it counts", () => withPage(join(run, "report.html"), async (page) => {
  const rows = Object.fromEntries((await csvOf(page, "rewiring-prune-far-add")).slice(1).map((row) => [row[0], row.slice(1).map(Number)]));
  const shown = await page.evaluate(async () => {
    const block = document.querySelector("[data-type=explorer]");
    block.scrollIntoView();
    while (!block.explorer) await new Promise((resolve) => setTimeout(resolve, 50));
    const { labels } = block.explorer.numbers;
    return [labels.before.edges, labels.after.edges, block.explorer.state.mode];
  });
  assert.deepEqual(shown, [...rows["edges that it counts"], "prune-far+add"]);
}));

test("added edges are thin and lie below the others", () => withPage(join(run, "report.html"), async (page) => {
  const buckets = await page.evaluate(() => document.querySelector("[data-type=drawing]").graph.view.buckets().map(({ state, width }) => ({ state, width })));
  assert.equal(buckets[0].state, 2);
  assert.ok(buckets.filter(({ state }) => state === 2).every(({ width }) => width <= 0.6));
}));

test("no row of figures is half empty", () => withPage(join(run, "report.html"), async (page) => {
  const counts = await page.evaluate(() => [...document.querySelectorAll(".blocks")].map((row) => row.querySelectorAll(":scope > figure:not(.wide)").length));
  assert.ok(counts.every((count) => count % 2 === 0), String(counts));
}));

test("attention rows sum to one in every layer and head", () => withPage(join(run, "report.html"), async (page) => {
  const worst = await page.evaluate(() => {
    const { model } = document.querySelector("[data-type=drawing]").graph;
    let gap = 0;
    model.layers.forEach((layer, l) => {
      for (let head = 0; head < layer.heads; ++head) {
        for (let node = 0; node < model.nodes; ++node) {
          const sum = model.attentionRow(node, l, head).reduce((total, entry) => total + entry.weight, 0);
          gap = Math.max(gap, Math.abs(sum - 1));
        }
      }
    });
    return { gap, layers: model.layers.length };
  });
  assert.equal(worst.layers, 2);
  assert.ok(worst.gap < 2e-3, `${worst.gap}`);
}));

test("clicking a node shows its attention row", () => withPage(join(run, "report.html"), async (page) => {
  await page.locator("canvas").scrollIntoViewIfNeeded();
  const { x, y } = await page.evaluate(() => {
    const { view } = document.querySelector("[data-type=drawing]").graph;
    const frame = view.canvas.getBoundingClientRect();
    return { x: frame.left + view.px(3), y: frame.top + view.py(3) };
  });
  await page.mouse.click(x, y);
  assert.match(await page.locator(".panel h4").textContent(), /^Node \d+$/);
  assert.ok(await page.locator("#attention-row tbody tr").count() >= 1);
}));

test("the page of a model without directions has no directional terms", () => withPage(join(other, "report.html"), async (page) => {
  assert.equal(await page.locator("[data-block=what-the-directional-terms-learned]").count(), 0);
  assert.equal(await page.locator("[data-block=entropy-of-attention]").count(), 1);
}));

test("the command line on the page repeats the run, whatever the names", () => withPage(join(run, "report.html"), async (page) => {
  const text = await page.locator("[data-block=command-that-repeats-the-run] pre").textContent();
  assert.ok(text.startsWith("dgat train "));
  const again = join(folder, "again");
  execFileSync("sh", ["-c", `"$DGAT" ${text.slice("dgat ".length)} --out "$AGAIN" --quiet`],
    { stdio: "ignore", env: { ...process.env, DGAT: dgat, AGAIN: again, DGAT_CACHE: join(folder, "cache") } });
  const repeated = JSON.parse(readFileSync(join(again, "summary.json"), "utf8"));
  const results = ({ splits, ...rest }) => [rest.model, rest.layers, rest.parameters, rest.test_mean, rest.val_mean, rest.options,
    splits.map(({ seconds, ...split }) => split)];
  assert.deepEqual(results(repeated), results(summary));
}));

test("several runs share a page with a comparison", async () => {
  const both = join(folder, "both.html");
  assert.equal(JSON.parse(call("report", run, other, "--out", both, "--json")).runs, 2);
  await withPage(both, async (page) => {
    const rows = (await csvOf(page, "runs")).slice(1);
    assert.deepEqual(rows.map((row) => row[2]), ["dgat", "gat"]);
    assert.equal(Number(rows[0][7]), summary.test_mean);
  });
});

test("a run whose data set is gone still has its results", async () => {
  const page = join(folder, "lost.html");
  rmSync(join(folder, NAME + ".npz"));
  call("report", run, "--out", page);
  await withPage(page, async (opened) => {
    assert.ok(await opened.locator("[data-block=results-by-split]").isVisible());
    assert.match(await opened.locator("#section-graph-and-predictions").textContent(), /Left out/);
  });
});
