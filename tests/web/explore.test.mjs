// `dgat explore` in the browser: the figures of the page are those of `dgat rewire`, bit for bit.
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { actOn, csvRows, launch, saved } from "./browser.mjs";

const dgat = join(process.env.DGAT_BIN || "build/release/bin", "dgat");
const SETTINGS = 20;
const MODES = ["none", "prune-near", "prune-far", "add", "hub", "prune-near+add", "prune-far+add", "prune-near+hub", "prune-far+hub"];
let browser, folder;

function call(...options) {
  return execFileSync(dgat, options, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, DGAT_CACHE: join(folder, "cache") } });
}

/** Waits until the command of the page passes the test. The page forbids eval, which waitForFunction needs where it waits. */
async function commandBecomes(page, passes) {
  const command = page.locator(".card pre"), end = Date.now() + 30000;
  while (!passes(await command.textContent())) {
    assert.ok(Date.now() < end, await command.textContent());
    await page.waitForTimeout(20);
  }
}

/** Uniform numbers that are the same on every run. */
function random(seed) {
  return () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 4294967296;
}

/** Four components of 40, 25, 12 and 2 nodes, and three nodes alone; weights of many sizes. */
function weightedPieces(path) {
  const next = random(7), nodes = [], edges = [];
  let first = 0;
  for (const size of [40, 25, 12, 2, 1, 1, 1]) {
    for (let i = 0; i < size; ++i) {
      nodes.push(`${first + i},${(first + i) % 3},${next().toFixed(3)}`);
      if (i > 0) edges.push(`${first + i},${first + Math.floor(next() * i)},${(0.2 + 3 * next()).toFixed(3)}`);
      if (i > 3) edges.push(`${first + i},${first + Math.floor(next() * (i - 2))},${(0.2 + 3 * next()).toFixed(3)}`);
    }
    first += size;
  }
  mkdirSync(path);
  writeFileSync(join(path, "nodes.csv"), ["id,label,a", ...nodes].join("\n") + "\n");
  writeFileSync(join(path, "edges.csv"), ["source,target,weight", ...edges].join("\n") + "\n");
  return [path, "--split", "50/25/25", "--splits", "1"];
}

const graphs = {
  "a mixed graph": (path) => { call("generate", "mixhop", "--mu", "0.3", "--nodes", "300", "--classes", "4", "--out", path + ".npz"); return [path + ".npz"]; },
  "a grid with a double eigenvalue": (path) => { call("generate", "minesweeper", "--height", "15", "--width", "15", "--out", path + ".npz"); return [path + ".npz"]; },
  "weighted pieces": weightedPieces,
};
const pages = {};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "dgat-web-"));
  for (const [name, make] of Object.entries(graphs)) {
    const data = make(join(folder, `graph-${Object.keys(pages).length}`));
    const page = join(folder, `page-${Object.keys(pages).length}.html`);
    pages[name] = { data, page, summary: JSON.parse(call("explore", ...data, "--out", page, "--json")) };
  }
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const withPage = (name, act, options) => actOn(browser, pages[name].page, async (page) => {
  await page.waitForSelector(".tiles .tile");
  await act(page);
}, options);

/** Sets the explorer as its controls would, and reads what the page then shows. */
function shownAt(page, change) {
  return page.evaluate(async (wanted) => {
    const { explorer } = document.querySelector("[data-type=explorer]"), { data, parts } = explorer;
    const epsilon = wanted.value === undefined ? wanted.epsilon : String(Number(explorer.state.distances[wanted.value % data.edges].toPrecision(4)));
    explorer.set({ ...wanted, epsilon });
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const tiles = Object.fromEntries([...parts.tiles.children].map((tile) => [tile.dataset.figure, tile.dataset.value]));
    return { tiles, numbers: { ...explorer.numbers, labels: undefined }, command: parts.command.textContent, epsilon };
  }, change);
}

for (const name of Object.keys(graphs)) {
  test(`${name}: ${SETTINGS} settings give the figures of dgat rewire`, () => withPage(name, async (page) => {
    const { data, summary } = pages[name], next = random(name.length), seen = new Set();
    assert.equal(summary.gammas, 21);
    const { gammas, alphas } = await page.evaluate(() => {
      const { data } = document.querySelector("[data-type=explorer]").explorer;
      return { gammas: data.gammas, alphas: data.alphas };
    });
    for (let k = 0; k < SETTINGS; ++k) {
      const g = Math.floor(next() * gammas.length), a = Math.floor(next() * alphas.length), mode = MODES[k % MODES.length];
      const policy = ["each", "first", "largest"][Math.floor(next() * 3)], change = { g, a, mode, policy };
      if (k % 3 === 2) change.value = Math.floor(next() * 1e6); // the distance of some edge, as text
      else change.epsilon = `q${Math.round(100 * next()) / 100}`;
      const shown = await shownAt(page, change);
      const pruning = mode.includes("prune") ? ["--epsilon", shown.epsilon] : [];
      const expected = JSON.parse(call("rewire", ...data, "--gamma", String(gammas[g]), "--alpha", String(alphas[a]), "--rewire", mode,
        "--components", policy, ...pruning, "--json"));
      const where = JSON.stringify({ gamma: gammas[g], alpha: alphas[a], mode, policy, epsilon: shown.epsilon });
      for (const key of ["edges_before", "dropped", "added", "edges_after", "isolated_before", "isolated_after", "components_before", "components_after",
        "homophily_before", "homophily_after", "epsilon"]) {
        assert.equal(shown.numbers[key], expected[key], `${key} at ${where}`);
      }
      for (const [key, value] of Object.entries(shown.tiles)) assert.equal(value ?? "null", String(expected[key]), `tile ${key} at ${where}`);
      assert.ok(shown.command.includes(` --rewire ${mode}`) && shown.command.includes(`--gamma ${gammas[g]} `), shown.command);
      seen.add(`${expected.dropped} ${expected.added}`);
    }
    assert.ok(seen.size > SETTINGS / 2, "the settings differ");
  }));
}

test("φ has the bits of dgat spectrum", () => withPage("weighted pieces", async (page) => {
  const { data } = pages["weighted pieces"];
  for (const [policy, alpha] of [["each", "0.15"], ["first", "0.85"], ["largest", "1"], ["largest", "0.5"]]) {
    const file = join(folder, "phi.npz");
    call("spectrum", ...data.slice(0, 1), "--gamma", "0.15", "--alpha", alpha, "--components", policy, "--out", file);
    const expected = execFileSync("python3", ["-c", `
import struct, sys, zipfile
text = zipfile.ZipFile(sys.argv[1]).read("eigenvectors.npy")
start = 10 + struct.unpack("<H", text[8:10])[0]
print("".join(f"{byte:02x}" for byte in text[start:]))`, file], { encoding: "utf8" }).trim();
    const found = await page.evaluate(([policy, alpha]) => {
      const { data } = document.querySelector("[data-type=explorer]").explorer;
      const [phi] = data.phi(data.gammas.indexOf(0.15), data.alphas.indexOf(Number(alpha)), policy);
      return [...new Uint8Array(phi.buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }, [policy, alpha]);
    const numbers = (hex) => [...new Float64Array(Uint8Array.from(Buffer.from(hex, "hex")).buffer)].map((x) => x + 0);  // -0 is 0
    assert.deepEqual(numbers(found), numbers(expected), `${policy} at alpha ${alpha}`);
  }
}));

test("sliders work with the keyboard, and the command follows", () => withPage("a mixed graph", async (page) => {
  const command = page.locator(".card pre"), gamma = page.getByRole("slider", { name: "γ" });
  const shown = async () => (await command.textContent()).match(/--gamma (\S+)/)[1];
  const start = await shown();
  assert.equal(start, String(JSON.parse(call("rewire", ...pages["a mixed graph"].data, "--json")).gamma), "as dgat rewire chooses");
  const gammas = await page.evaluate(() => document.querySelector("[data-type=explorer]").explorer.data.gammas);
  const following = String(gammas[gammas.indexOf(Number(start)) + 1]);
  await gamma.focus();
  await page.keyboard.press("ArrowRight");
  await commandBecomes(page, (text) => text.includes(`--gamma ${following} `));
  await page.keyboard.press("End");
  await commandBecomes(page, (text) => text.includes("--gamma 1 "));
  await page.getByRole("radio", { name: "hub" }).check({ force: true });
  await page.getByRole("radio", { name: "near" }).check({ force: true });
  const field = page.getByLabel("ε as text, such as q0.2 or 1e-5");
  await field.fill("q0.25");
  await field.press("Enter");
  await commandBecomes(page, (text) => text.endsWith("--rewire prune-near+hub --epsilon q0.25"));
  await field.fill("-1");
  await field.press("Enter");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.match(await command.textContent(), /q0\.25$/);
  await page.getByRole("button", { name: "Back to the start" }).click();
  await commandBecomes(page, (text) => text.includes(`--gamma ${start} `));
}));

test("the command trains what is shown", () => withPage("a mixed graph", async (page) => {
  const shown = await shownAt(page, { g: 15, a: 5, mode: "prune-far+add", epsilon: "q0.6", policy: "each" });
  const out = join(folder, "trained");
  execFileSync("sh", ["-c", `"$DGAT" ${shown.command.slice("dgat ".length)} --layers 1 --hidden 8 --heads 2 --steps 2 --splits 1 --out "$OUT" --quiet --json`],
    { stdio: "ignore", env: { ...process.env, DGAT: dgat, OUT: out, DGAT_CACHE: join(folder, "cache") } });
  const rewiring = JSON.parse(readFileSync(join(out, "summary.json"), "utf8")).rewiring[0];
  for (const key of ["edges_before", "dropped", "added", "edges_after", "isolated_after", "components_after", "homophily_after"]) {
    assert.equal(shown.numbers[key], rewiring[key], key);
  }
}));

test("the advice, the CSV and the histogram agree with the command line", () => withPage("a mixed graph", async (page) => {
  const { data } = pages["a mixed graph"], advice = JSON.parse(call("advise", ...data, "--race", "off", "--json"));
  await page.getByRole("button", { name: "As advised" }).click();
  const { best } = advice;
  await commandBecomes(page, (text) => text.includes(`--gamma ${best.gamma} `));
  assert.ok((await page.locator(".card pre").textContent()).includes(`--alpha ${best.alpha} --gamma ${best.gamma} --rewire ${best.rewire}`));
  assert.equal(await page.locator(".advice").textContent(), advice.reason);
  const { name, bytes } = await saved(page, page.locator("[data-type=explorer]").getByRole("button", { name: "CSV" }));
  assert.equal(name, "explorer.csv");
  const rows = Object.fromEntries(csvRows(bytes).slice(1));
  assert.equal(rows.rewire, best.rewire);
  assert.equal(Number(rows.edges_after), Number(rows.edges_before) - Number(rows.dropped) + Number(rows.added));
  const candidate = advice.candidates.find((one) => ["gamma", "alpha", "rewire"].every((key) => one[key] === best[key]) && String(one.epsilon ?? "") === String(best.epsilon ?? ""));
  assert.equal(Number(rows.training_edges_dropped), candidate.dropped.edges);
  for (const part of ["kept", "dropped", "added"]) {
    if (candidate[part].edges > 0) assert.ok(Math.abs(Number(rows[`homophily_${part}_edges`]) - candidate[part].agreement) < 1e-12);
  }
}));

test("the page holds training labels only, and counts them", () => withPage("a grid with a double eigenvalue", async (page) => {
  const { labels, training, text } = await page.evaluate(() => {
    const { data, parts } = document.querySelector("[data-type=explorer]").explorer;
    return { labels: data.label.filter((label) => label >= 0).length, training: data.trainingNodes, text: parts.sentence.textContent };
  });
  assert.equal(labels, training);
  assert.ok(labels < 225);
  assert.match(text, /2-fold/);
}));

test("a graph of more nodes than are drawn says so, and counts all", async () => {
  const data = join(folder, "wide.npz"), file = join(folder, "wide.html");
  call("generate", "csbm", "--nodes", "13000", "--degree", "3", "--splits", "1", "--out", data);
  call("explore", data, "--no-advice", "--budget", "0s", "--out", file);
  await actOn(browser, file, async (page) => {
    await page.waitForSelector(".explorer canvas[data-painted=still]");
    assert.match(await page.locator(".explorer .hint").first().textContent(), /^Drawn: 12,000 of 13,000 nodes/);
    const { numbers, command } = await shownAt(page, { g: 0, a: 20, mode: "add", policy: "each", epsilon: "q0.5" });
    const expected = JSON.parse(call("rewire", data, "--gamma", command.match(/--gamma (\S+)/)[1], "--alpha", "1", "--rewire", "add", "--json"));
    assert.deepEqual([numbers.added, numbers.components_after], [expected.added, expected.components_after]);
    assert.match(await page.locator("[data-type=explorer] > figcaption").textContent(), /1 of 21 values of γ/);
  });
});

test("the explorer fits a phone and follows the theme", () => withPage("weighted pieces", async (page) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  await page.waitForSelector(".explorer canvas[data-painted=still]");
  const corner = () => page.evaluate(() => [...document.querySelector("[data-type=explorer]").explorer.canvas.image.data.slice(0, 3)]);
  const light = await corner();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(300);
  assert.notDeepEqual(await corner(), light);
}, { viewport: { width: 390, height: 800 }, colorScheme: "light" }));

test("pages stay small", () => {
  for (const { page } of Object.values(pages)) assert.ok(statSync(page).size < 1.5e6, page);
});
