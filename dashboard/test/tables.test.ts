import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { sortBy } from "../src/ui/table-sort.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { pressEnterOn } from "./tab-to.ts";

const TEST = "/projects/1/test";

test("features are sorted by each column, and the CSV file has the order and columns shown", async () => {
  const { service, manage } = await setupManage();
  for (const [key, name, credits] of [
    ["film.cut", "Édit a film", 20],
    ["film.mix", "Mix a film", 3],
  ] as const)
    await manage("PUT", `features/${key}`, { body: { name, unit: null, cost: { credits, per: 1 } } });
  const page = await signIn(service.url, `${TEST}/features?search=film`);
  const names = () => page.locator("tbody tr td:first-child a").allTextContents();
  await expect.poll(names).toEqual(["Édit a film", "Mix a film"]);
  const heading = page.getByRole("columnheader", { name: "Cost" });
  await pressEnterOn(page, heading.getByRole("button"));
  await expect.poll(names).toEqual(["Mix a film", "Édit a film"]);
  expect(await heading.getAttribute("aria-sort")).toBe("ascending");
  await expectAccessible(page);
  await heading.getByRole("button").click();
  await expect.poll(names).toEqual(["Édit a film", "Mix a film"]);
  expect(await heading.getAttribute("aria-sort")).toBe("descending");
  await page.getByRole("button", { name: "Feature", exact: true }).click();
  await page.getByRole("button", { name: "Feature", exact: true }).click();
  await expect.poll(names).toEqual(["Mix a film", "Édit a film"]);

  await page.getByRole("button", { name: "Choose columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Unit" }).click();
  await page.keyboard.press("Escape");
  const { name, lines } = await download(page, "Download CSV");
  expect(name).toBe("features.csv");
  expect(lines).toEqual([
    "Feature,Key,Cost,Plans",
    "Mix a film,film.mix,3 credits each,",
    "Édit a film,film.cut,20 credits each,",
  ]);
});

test("rows without a value are last in both directions, and numbers are not sorted as text", () => {
  const rows = [9, null, 10, -3];
  const sort = (isDescending: boolean) => sortBy(rows, (row) => row, isDescending);
  expect(sort(false)).toEqual([-3, 9, 10, null]);
  expect(sort(true)).toEqual([10, 9, -3, null]);
  const texts = ["Team 10", "éclair", "team 9", "Zoo"];
  expect(sortBy(texts, (text) => text, false)).toEqual(["éclair", "team 9", "Team 10", "Zoo"]);
});

test("a ledger that is not fully loaded cannot be sorted, and only its loaded rows are downloaded", async () => {
  const { service, topUp, manage } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "=Ada" } });
  for (let credits = 1; credits <= 60; credits++) await topUp("ada", credits);
  const page = await signIn(service.url, `${TEST}/customers/ada/ledger`);
  await page.getByText("First 50 entries").waitFor();
  const heading = page.getByRole("columnheader", { name: "Change" });
  expect(await heading.getByRole("button").count()).toBe(0);
  const some = await download(page, "Download 50 rows as CSV");
  expect(some.name).toBe("ledger.csv");
  expect(some.lines).toHaveLength(51);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText(/^All \d+ entries$/).waitFor();
  await heading.getByRole("button").click();
  expect(await page.locator("tbody tr").nth(1).textContent()).toContain("+60");
  const all = await download(page, "Download CSV");
  expect(all.lines[0]).toBe("Time,Entry,For,Quantity,Idempotency key or actor,Change,Balance");
  expect(all.lines[2]).toMatch(/^20\d\d-.*Z,Top-up,Goodwill,,.*,60,\d+$/);
});

test("selecting a row moves no row, and the actions never cover the end of the list", async () => {
  const { service, manage } = await setupManage();
  const csv = ["customerId", ...Array.from({ length: 30 }, (_, index) => `org_${index}`)].join("\n");
  await manage("POST", "imports?name=thirty", { body: csv, headers: { "content-type": "text/csv" } });
  for (const width of [1440, 390]) {
    const page = await signIn(service.url, `${TEST}/customers`, { width });
    const top = async () => (await page.getByLabel("Select org_5", { exact: true }).boundingBox())?.y;
    const before = await top();
    await page.getByLabel("Select org_5", { exact: true }).click();
    const bar = page.getByRole("region", { name: "Selected customers" });
    await bar.getByText("1 selected").waitFor();
    expect(await top()).toBe(before);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const end = await page.getByText(/^All \d+ customers$/).boundingBox();
    const box = await bar.boundingBox();
    expect((end?.y ?? 0) + (end?.height ?? 0)).toBeLessThan(box?.y ?? 0);
    await expectAccessible(page);
  }
});

async function download(page: Page, name: string): Promise<{ name: string; lines: string[] }> {
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name }).click();
  const file = await saved;
  const text = readFileSync(await file.path(), "utf8");
  return { name: file.suggestedFilename(), lines: text.trimEnd().split("\r\n") };
}
