import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { toCsv } from "../src/format/csv.ts";
import { sortBy } from "../src/ui/table-sort.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { pressEnterOn } from "./tab-to.ts";

const TEST = "/projects/1/test";

test("features are sorted by each column, and the CSV file has the order and columns shown", async () => {
  const { service, manage } = await setupManage();
  for (const [key, name, credits] of [
    ["film.cut", "Édit a film", 1_000],
    ["film.mix", "Mix a film", 3],
    ["film.cue", "Play a film", 0],
  ] as const)
    await manage("PUT", `features/${key}`, { body: { name, unit: null, cost: { credits, per: 1 } } });
  const page = await signIn(service.url, `${TEST}/features?search=film`);
  const names = () => page.locator("tbody tr td:first-child a").allTextContents();
  await expect.poll(names).toEqual(["Play a film", "Édit a film", "Mix a film"]);
  const heading = page.getByRole("columnheader", { name: "Cost" });
  await pressEnterOn(page, heading.getByRole("button"));
  await expect.poll(names).toEqual(["Play a film", "Mix a film", "Édit a film"]);
  expect(await heading.getAttribute("aria-sort")).toBe("ascending");
  await expectAccessible(page);
  await heading.getByRole("button").click();
  await expect.poll(names).toEqual(["Édit a film", "Mix a film", "Play a film"]);
  expect(await heading.getAttribute("aria-sort")).toBe("descending");
  await page.getByRole("button", { name: "Feature", exact: true }).click();
  await page.getByRole("button", { name: "Feature", exact: true }).click();
  await expect.poll(names).toEqual(["Play a film", "Mix a film", "Édit a film"]);

  await page.getByRole("button", { name: "Choose columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Unit" }).click();
  await page.keyboard.press("Escape");
  const { name, lines } = await download(page, "Download CSV");
  expect(name).toBe("features-test.csv");
  expect(lines).toEqual([
    "Feature,Key,Cost,Plans",
    "Play a film,film.cue,Free,",
    "Mix a film,film.mix,3 credits each,",
    'Édit a film,film.cut,"1,000 credits each",',
  ]);
});

test.each([
  ["=1+1", "'=1+1"],
  ["Bob;=1+1", "Bob;'=1+1"],
  ["a\t@b", "a\t'@b"],
  ["a\n＝b", '"a\n\'＝b"'],
  ['a;"=b', '"a;""\'=b"'],
  ["5 - 3", "5 - 3"],
  ["Ada, Inc.", '"Ada, Inc."'],
])("in a CSV file, %j is %j, so that no spreadsheet runs it as a formula", (text, cell) => {
  expect(toCsv([[text, -5]])).toBe(`${cell},-5\r\n`);
});

test("rows without a value are last in both directions, and numbers are not sorted as text", () => {
  const rows = [9, null, 10, -3];
  const sort = (isDescending: boolean) => sortBy(rows, (row) => row, isDescending);
  expect(sort(false)).toEqual([-3, 9, 10, null]);
  expect(sort(true)).toEqual([10, 9, -3, null]);
  const texts = ["Team 10", "éclair", "team 9", "Zoo"];
  expect(sortBy(texts, (text) => text, false)).toEqual(["éclair", "team 9", "Team 10", "Zoo"]);
});

test("a ledger that is not fully loaded cannot be sorted, but is downloaded completely", async () => {
  const { service, topUp, manage } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "=Ada" } });
  for (let credits = 1; credits <= 60; credits++) await topUp("ada", credits);
  const page = await signIn(service.url, `${TEST}/customers/ada/ledger`);
  await page.getByText("First 50 entries").waitFor();
  const heading = page.getByRole("columnheader", { name: "Change" });
  expect(await heading.getByRole("button").count()).toBe(0);
  const whole = await download(page, "Download CSV");
  expect(whole.name).toBe("ledger-ada-test.csv");
  expect(whole.lines).toHaveLength(62);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText(/^All \d+ entries$/).waitFor();
  await heading.getByRole("button").click();
  expect(await page.locator("tbody tr").nth(1).textContent()).toContain("+60");
  const all = await download(page, "Download CSV");
  expect(all.lines[0]).toBe(
    "Time,Entry,For,Quantity,Idempotency key,Reference,By,Pool,Change,Overage,Balance",
  );
  expect(all.lines[2]).toMatch(/^20\d\d-.*Z,Top-up,Goodwill,,,,member ada,Credits,60,0,\d+$/);
});

test("entries with the same time are sorted by their number, so that balances add up", async () => {
  const { service, consume } = await setupManage();
  const items = ["image.render", "text.generate", "export"].map((feature) => ({ feature, quantity: 1 }));
  await consume({ customerId: "ada", items, idempotencyKey: "three" });
  const page = await signIn(service.url, `${TEST}/customers/ada/ledger`);
  await page.getByRole("columnheader", { name: "Time" }).getByRole("button").click();
  const { lines } = await download(page, "Download CSV");
  const cells = lines.slice(1).map((line) => line.split(",").map(Number));
  const steps = cells.map((row, index) => (cells[index - 1]?.at(-1) ?? 0) + (row.at(-3) ?? 0));
  expect(cells.map((row) => row.at(-1))).toEqual(steps);
});

test("if the button that opened a dialog disappears, the focus moves to its table", async () => {
  const { service, topUp } = await setupManage();
  await topUp("ada", 500);
  const page = await signIn(service.url, `${TEST}/customers/ada/grants`);
  await pressEnterOn(page, page.getByRole("button", { name: "Revoke grant 2" }));
  const dialog = page.getByRole("dialog", { name: "Revoke grant" });
  await pressEnterOn(page, dialog.getByRole("button", { name: "Revoke 500 credits" }));
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Revoked", { exact: true }).waitFor();
  const grants = page.getByRole("region", { name: "Grants" });
  await expect.poll(() => grants.evaluate((region) => region === document.activeElement)).toBe(true);
});

test("the name column takes less than half of the list, and a click on a row opens it", async () => {
  const { service, consume } = await setupManage();
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "one" });
  const page = await signIn(service.url, `${TEST}/features`);
  for (const path of ["features", "customers"]) {
    await page.goto(`${TEST}/${path}`);
    const widths = await page
      .locator("thead th")
      .evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
    const total = widths.reduce((sum, width) => sum + width, 0);
    expect(Math.max(...widths), path).toBeLessThan(total / 2);
  }
  await page.goto(`${TEST}/features`);
  await page.getByRole("row", { name: "image.render" }).getByText("10 credits").click();
  await page.getByRole("dialog", { name: "image.render" }).waitFor();
  await page.goto(TEST);
  const latest = page.getByRole("region", { name: "Latest requests" }).getByRole("row", { name: "consume" });
  await latest.getByText("Allowed").click();
  await page.waitForURL("**/customers/ada");
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
