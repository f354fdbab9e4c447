// node screenshots.mjs PAGE FOLDER: the drawing with a chosen node (dark), and results with charts (light).
import { join } from "node:path";
import { launch, openPage } from "./browser.mjs";

const [file, folder] = process.argv.slice(2);
const browser = await launch();

const drawing = await openPage(browser, file, { colorScheme: "dark", viewport: { width: 920, height: 700 } });
await drawing.page.evaluate(() => {
  const { view } = document.querySelector("[data-type=drawing]").graph;
  view.select(Math.floor(view.model.nodes / 2));
});
await drawing.page.waitForTimeout(800);
await drawing.page.locator("[data-type=drawing]").screenshot({ path: join(folder, "report-drawing.png") });

const charts = await openPage(browser, file, { colorScheme: "light", viewport: { width: 1180, height: 900 } });
await charts.page.locator("nav").evaluate((nav) => { nav.style.display = "none"; });  // it would float over the picture
await charts.page.waitForTimeout(400);
await charts.page.locator("#section-predictions").screenshot({ path: join(folder, "report-charts.png") });
await browser.close();
