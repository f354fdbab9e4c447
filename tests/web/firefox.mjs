// A headless Firefox driven by WebDriver BiDi, the protocol it speaks itself: JSON messages over a socket.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import utilities from "playwright-core/lib/utilsBundle";

export const FIREFOX = process.env.FIREFOX || "/usr/bin/firefox-esr";
export const installed = existsSync(FIREFOX);

const QUIET = { "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false, "app.update.auto": false, "browser.aboutwelcome.enabled": false };

/** Starts the browser; its last line of greeting says where it listens. */
async function start(profile) {
  const child = spawn(FIREFOX, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"],
    { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: profile } });
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stderr.on("data", (chunk) => {
      text += chunk;
      const match = text.match(/WebDriver BiDi listening on (ws:\S+)/);
      if (match) resolve(match[1]);
    });
    child.on("exit", () => reject(new Error("Firefox ended: " + text)));
    setTimeout(() => reject(new Error("Firefox does not answer: " + text)), 60000).unref();
  });
  return { child, address };
}

export async function launchFirefox() {
  const profile = mkdtempSync(join(tmpdir(), "dgat-firefox-"));
  writeFileSync(join(profile, "user.js"), Object.entries(QUIET).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`).join(""));
  const { child, address } = await start(profile);
  const socket = new utilities.ws(address + "/session");
  await new Promise((resolve, reject) => { socket.on("open", resolve); socket.on("error", reject); });
  const waiting = new Map(), troubles = [];
  let next = 0, allowed = "";
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (waiting.has(message.id)) waiting.get(message.id)(message);
    else if (message.method === "log.entryAdded" && ["error", "warn"].includes(message.params.level)) troubles.push(message.params.text);
    else if (message.method === "network.beforeRequestSent") {
      const { url } = message.params.request;
      if (url !== allowed && !/^(data|blob|about):/.test(url)) troubles.push("request: " + url);
    }
  });
  const send = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++next, (answer) => answer.type === "error" ? reject(new Error(`${method}: ${answer.message}`)) : resolve(answer.result));
    socket.send(JSON.stringify({ id: next, method, params }));
  });
  await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent"] });
  const { contexts: [{ context }] } = await send("browsingContext.getTree", {});

  return {
    troubles,
    async open(file, width = 1280, height = 900) {
      allowed = pathToFileURL(file).href;
      await send("browsingContext.setViewport", { context, viewport: { width, height } });
      await send("browsingContext.navigate", { context, url: allowed, wait: "complete" });
    },
    /** Runs a function without outer variables in the page; arguments and result travel as JSON. */
    async evaluate(act, ...values) {
      const expression = `(async () => JSON.stringify(await (${act})(...${JSON.stringify(values)})))()`;
      const answer = await send("script.evaluate", { expression, target: { context }, awaitPromise: true });
      if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
    },
    async click(x, y) {
      await send("input.performActions", { context, actions: [{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" },
        actions: [{ type: "pointerMove", x: Math.round(x), y: Math.round(y) }, { type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }] }] });
    },
    async screenshot(path) {
      writeFileSync(path, Buffer.from((await send("browsingContext.captureScreenshot", { context })).data, "base64"));
    },
    async close() {
      const ended = new Promise((resolve) => child.on("exit", resolve));
      await send("browser.close", {}).catch(() => child.kill());
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
