import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { signIn } from "./browser.ts";
import { readByCustomer, setupLastMonth, sumLastMonth } from "./last-month.ts";
import { setupRunningOut } from "./running-out.ts";
import { pressEnterOn, typeInto } from "./tab-to.ts";

// Each test starts on Home and uses only the keyboard.
const HOME = "/projects/1/test";

test("the customers who run out this week are found, downloaded and opened", async () => {
  const { service, manage } = await setupRunningOut();
  const page = await signIn(service.url, HOME);
  const soon = page.locator('section:has(h2:text-is("Running out this week"))');
  await pressEnterOn(page, soon.getByRole("link", { name: "View all" }));
  await page.waitForURL("**/running-out?days=7");
  const rows = page.getByRole("region", { name: "Customers running out" }).locator("tbody tr");
  await expect
    .poll(() => rows.allTextContents())
    .toEqual([
      expect.stringMatching(/^spent.*Empty/),
      expect.stringMatching(/^Fast Filmsfast.*Empty in about 2 days/),
    ]);
  const { body } = await manage("GET", "forecasts?days=7&empty=true");
  const forecasts = body["items"] as { customerId: string }[];
  expect(forecasts.map(({ customerId }) => customerId)).toEqual(["spent", "fast"]);

  // A longer period adds a customer, and the filter keeps the focus.
  await typeInto(page, page.getByLabel("Runs out"), "Any time");
  await expect.poll(() => rows.count()).toBe(3);
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => rows.count()).toBe(1);
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => rows.count()).toBe(2);
  const download = page.waitForEvent("download");
  await pressEnterOn(page, page.getByRole("button", { name: "Download CSV" }));
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines.map((line) => line.split(",")[1])).toEqual(["Customer ID", "spent", "fast"]);
  await pressEnterOn(page, rows.getByRole("link", { name: "Fast Films" }), "Shift+Tab");
  await page.waitForURL("**/customers/fast");
});

test("last month's usage is grouped by customer, with names and totals", async () => {
  const managed = await setupLastMonth();
  const page = await signIn(managed.service.url, HOME);
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await page.waitForURL(/\/usage$/);
  await typeInto(page, page.getByLabel("Range"), "Last month");
  await pressEnterOn(page, page.getByRole("button", { name: "Customer", exact: true }));
  await expect.poll(() => readByCustomer(page)).toEqual(await sumLastMonth(managed));
  await page.getByText("360", { exact: true }).first().waitFor();
  expect(new URL(page.url()).search).toBe("?range=last-month&groupBy=customer");
  await pressEnterOn(page, page.getByRole("link", { name: "Studio 1 org_1" }));
  await page.waitForURL("**/customers/org_1/usage?range=last-month");
});
