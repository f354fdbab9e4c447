// node explore-speed.mjs PAGE: how fast the explorer moves. γ and ε change every 100 ms for some seconds; printed are frames per second and the
// processor time of the page's thread per frame. Not a test: times depend on the machine.
import { launch, openPage } from "./browser.mjs";

const [file] = process.argv.slice(2), SECONDS = 6;
const browser = await launch();
const { page } = await openPage(browser, file);
await page.waitForSelector(".explorer canvas[data-painted=still]", { timeout: 120000 });
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const busy = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;

for (const kind of ["γ", "ε"]) {
  const before = await busy();
  const { frames, seconds, drawn, share, size } = await page.evaluate(async ([kind, seconds]) => {
    const { explorer } = document.querySelector("[data-type=explorer]"), { data, canvas } = explorer;
    explorer.set({ mode: "prune-far+add", epsilon: "q0.8" });
    let frames = 0, running = true;
    const original = canvas.draw.bind(canvas);
    canvas.draw = (moving) => { ++frames; original(moving); };
    const start = performance.now();
    for (let k = 0; performance.now() - start < 1000 * seconds; ++k) {
      explorer.set(kind === "γ" ? { g: k % data.gammas.length } : { epsilon: `q${(k % 100) / 100}` });
      if (kind === "ε") await new Promise((resolve) => requestAnimationFrame(resolve));
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const spent = (performance.now() - start) / 1000;
    canvas.draw = original;
    return { frames, seconds: spent, drawn: [canvas.drawn.length, canvas.drawnEdges.length], share: canvas.share, size: [canvas.width, canvas.height] };
  }, [kind, SECONDS]);
  const cpu = await busy() - before;
  console.log(`${kind} moves: ${drawn[0]} nodes, ${drawn[1]} edges, ${size.join(" x ")} pixels: ${(frames / seconds).toFixed(1)} frames/s, `
    + `${(1000 * cpu / frames).toFixed(1)} ms of processor time per frame; ${(100 * share).toFixed(0)}% of the edges drawn while moving`);
}
await browser.close();
