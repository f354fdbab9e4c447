// node screenshots.mjs REPORT EXPLORER FOLDER: the drawing with a chosen node (dark), results with charts and the explorer (light).
import { join } from "node:path";
import { launch, openPage } from "./browser.mjs";

const [file, explorer, folder] = process.argv.slice(2);
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

const settings = await openPage(browser, explorer, { colorScheme: "light", viewport: { width: 1100, height: 860 } });
await settings.page.waitForSelector(".explorer canvas[data-painted=still]");
await settings.page.screenshot({ path: join(folder, "explorer.png") });
await browser.close();
