// A headless Chromium and a page opened from disk, with everything that must not happen recorded.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: FLAGS });
}

/** Opens a file; `troubles` collects console errors, exceptions and requests other than the file itself. */
export async function openPage(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const troubles = [], address = pathToFileURL(file).href;
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) troubles.push(message.text()); });
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("dialog", (dialog) => { troubles.push("dialog: " + dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:") && !url.startsWith("blob:")) troubles.push("request: " + url);
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready=true]");
  return { page, troubles, close: () => context.close() };
}

/** Opens a file, acts on its page and expects no trouble. */
export async function actOn(browser, file, act, options = {}) {
  const opened = await openPage(browser, file, options);
  await act(opened.page);
  assert.deepEqual(opened.troubles, []);
  await opened.close();
}

/** What a button saves: name and text. */
export async function saved(page, locator) {
  const [download] = await Promise.all([page.waitForEvent("download"), locator.click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** Rows of a CSV file without line breaks inside cells. */
export function csvRows(bytes) {
  return bytes.toString("utf8").trimEnd().split("\r\n").map((line) => {
    const cells = [];
    for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
      cells.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    }
    return cells;
  });
}

/** The rows that the CSV button of a block saves. */
export async function csvOf(page, block) {
  return csvRows((await saved(page, page.locator(`[data-block=${block}]`).getByRole("button", { name: "CSV" }))).bytes);
}
