// Studies from the command line to the page: the numbers shown are those of their JSON files.
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { actOn, csvOf, launch } from "./browser.mjs";

const dgat = join(process.env.DGAT_BIN || "build/release/bin", "dgat");
let browser, folder, data;

function call(...options) {
  return execFileSync(dgat, options, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, DGAT_CACHE: join(folder, "cache") } });
}
const read = (...path) => JSON.parse(readFileSync(join(folder, ...path), "utf8"));

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "dgat-web-"));
  data = join(folder, "mix.npz");
  call("generate", "mixhop", "--mu", "0.2", "--nodes", "300", "--classes", "3", "--out", data);
  const training = [data, "--splits", "3", "--hidden", "8", "--heads", "2", "--steps", "6", "--lr", "0.01"];
  call("compare", ...training, "--layers", "1..2", "--models", "gat,resnet,dgat:gamma=0.1:rewire=none,dgat:gamma=1:rewire=none",
    "--out", join(folder, "compare"));
  call("ablate", ...training, "--layers", "1", "--rewire", "prune-far+add", "--gamma", "0.5", "--out", join(folder, "ablate"));
  call("tune", ...training.slice(0, -2), "--layers", "1", "--alpha", "1", "--epsilon", "q0.5", "--dropout", "0.2", "--weight-decay", "0",
    "--search", "gamma=0.1,1", "--search", "rewire=none,add", "--search", "lr=0.01,0.1", "--budget", "1m", "--out", join(folder, "tune"));
  writeFileSync(join(folder, "advice.json"), call("advise", data, "--gammas", "0.1,1", "--race", "off", "--json"));
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const withPage = (file, act) => actOn(browser, file, act);

test("compare leaves a page whose dots are means and splits", () => withPage(join(folder, "compare", "report.html"), async (page) => {
  const study = read("compare", "compare.json");
  assert.equal(await page.locator("h1").textContent(), "compare on mix");
  const rows = (await csvOf(page, "test-accuracy")).slice(1);
  const best = [...study.rows].sort((a, b) => b.test_mean - a.test_mean);
  assert.deepEqual(rows.map((row) => row[0]), best.map((row) => row.name));
  best.forEach((row, k) => assert.deepEqual([rows[k][1], ...rows[k].slice(4)].map(Number),
    [row.test_mean, ...row.splits.map((split) => split.test)]));
  assert.equal(await page.locator("[data-block=test-accuracy] circle.sample").count(), 12);
  const differences = (await csvOf(page, "difference-to-" + study.reference.replace(/[^a-z0-9]+/g, "-"))).slice(1);
  for (const row of study.rows.filter((each) => each.versus_reference)) {
    const shown = differences.find(([name]) => name === row.name);
    assert.deepEqual(shown.slice(1, 4).map(Number), ["difference", "low", "high"].map((key) => row.versus_reference[key]));
  }
}));

test("the curve over gamma and the depths are those of the rows", () => withPage(join(folder, "compare", "report.html"), async (page) => {
  const study = read("compare", "compare.json");
  const curve = (await csvOf(page, "test-metric-over")).slice(1);
  assert.deepEqual(curve.map((row) => [row[0], Number(row[1]), Number(row[2])]), [["dgat:rewire=none", 0.1, study.rows[2].test_mean],
    ["dgat:rewire=none", 1, study.rows[3].test_mean]]);
  const depths = (await csvOf(page, "validation-by-depth")).slice(1);
  assert.equal(depths.length, 8);
  assert.equal(Number(depths[0][2]), study.rows[0].choices.find((choice) => choice.layers === 1).val_mean);
}));

test("the table of a comparison is that of compare.json", () => withPage(join(folder, "compare", "report.html"), async (page) => {
  const { table } = read("compare", "compare.json");
  const rows = (await csvOf(page, "compare-on-mix")).slice(1);
  table.rows.forEach((row, k) => assert.deepEqual([rows[k][0], Number(rows[k][1]), Number(rows[k][2])], [row.model, row.test.mean, row.test.std]));
}));

test("ablate leaves a page with the matrix of switches", () => withPage(join(folder, "ablate", "report.html"), async (page) => {
  const rows = (await csvOf(page, "test-accuracy")).slice(1);
  const { table } = read("ablate", "ablate.json");
  assert.deepEqual(rows.map((row) => row.slice(1, 4).map((mark) => mark === "✓")),
    table.rows.map((row) => [row.laplacian, row.directional, row.rewire]));
  assert.equal(await page.locator("[data-block=test-accuracy] circle.mark").count(), 21);
  assert.equal(await page.locator("[data-block=test-accuracy] circle.mark.on").count(),
    table.rows.flatMap((row) => [row.laplacian, row.directional, row.rewire]).filter(Boolean).length);
}));

test("tune leaves a page with its history, its candidates and how the advice held", () => withPage(join(folder, "tune", "report.html"), async (page) => {
  const study = read("tune", "tune.json");
  const reached = study.candidates.flatMap((candidate) => candidate.val);
  const points = (await csvOf(page, "search-history")).slice(1), history = points.filter((row) => row[0] !== "one candidate");
  assert.deepEqual(history.map((row) => Number(row[2])).sort(), reached.map(Number).sort());
  const advanced = study.candidates.filter((candidate) => candidate.val.length > 1), path = points.filter((row) => row[0] === "one candidate");
  assert.equal(path.filter((row) => row[2] !== "").length, advanced.flatMap((candidate) => candidate.val).length);
  const candidates = (await csvOf(page, "candidates")).slice(1);
  assert.equal(candidates.length, study.candidates.length);
  assert.ok((await page.locator("[data-block=the-test-result] pre").textContent()).includes(join(folder, "tune", "config.yaml")));
}));

test("saved advice makes a page with its reason and its scores", async () => {
  const advice = read("advice.json"), file = join(folder, "advice.html");
  call("report", join(folder, "advice.json"), "--out", file);
  await withPage(file, async (page) => {
    assert.equal(await page.locator("section p").first().textContent(), advice.reason);
    const scores = (await csvOf(page, "score-over")).slice(1);
    for (const { gamma, score } of advice.gammas) assert.ok(scores.some((row) => Number(row[1]) === gamma && Number(row[2]) === score));
    assert.equal((await csvOf(page, "candidates")).length - 1, advice.candidates.length);
  });
});

test("several studies share a page", async () => {
  const both = join(folder, "both.html");
  call("report", join(folder, "compare"), join(folder, "ablate"), "--out", both);
  await withPage(both, async (page) => assert.deepEqual(await page.locator("h2").allTextContents(),
    ["compare on mix: Results", "compare on mix: How", "ablate on mix: Results", "ablate on mix: How"]));
});
