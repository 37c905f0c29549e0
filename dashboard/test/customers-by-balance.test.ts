import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const CUSTOMERS = "/projects/1/test/customers";

async function download(page: Page): Promise<string[]> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const [, ...lines] = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  return lines.map((line) => line.split(",")[1] ?? "");
}

test("a customer list sorted by balance has no gaps or duplicates if balances change while pages load", async () => {
  const { service, manage, topUp } = await setupManage();
  const ids = Array.from({ length: 210 }, (_, index) => `org_${1_000 + index}`);
  const csv = ["customerId,credits", ...ids.map((id, index) => `${id},${1_000 + index}`)].join("\n");
  await manage("POST", "imports?name=many", { body: csv, headers: { "content-type": "text/csv" } });
  const page = await signIn(service.url, `${CUSTOMERS}?search=org&sort=balance_desc`);
  await page.getByLabel("Select the 50 rows shown").click();
  const bar = page.getByRole("region", { name: "Selected customers" });
  // Before each further page loads, a top-up turns the lowest balance into the highest.
  await page.route(/[?&]cursor=/, async (route) => {
    await topUp("org_1000", 10_000);
    await route.continue();
  });
  await bar.getByRole("button", { name: "Select all that match this filter…" }).click();
  await bar.getByRole("button", { name: "Select all 210 customers that match" }).click();
  await bar.getByText("All 210 customers that match").waitFor();
  const downloaded = await download(page);
  expect(downloaded[0]).toBe("org_1000");
  expect(downloaded.slice(1)).toEqual(ids.slice(1).reverse());
});

test("a search sorted by balance reports that older customers were not searched", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, `${CUSTOMERS}?search=nobody&sort=balance_desc`);
  await page.getByText("No matches among the newest 100,000 customers").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Search all customers" }).click();
  await page.getByText("No matches", { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe("?search=nobody");
});

// A list sorted by balance contains only the newest 100,000 customers, too many for a test. To get a customer
// who is missing from the list, the test creates one after the list has loaded.
test("selecting all matches and downloading a CSV include customers missing from a list sorted by balance", async () => {
  const { service, manage } = await setupManage();
  for (const id of ["org_1", "org_2"]) await manage("PUT", `customers/${id}`, { body: {} });
  const page = await signIn(service.url, `${CUSTOMERS}?balanceBelow=1&sort=balance_asc`);
  await page.getByText("Shows the newest 100,000 customers").waitFor();
  await page.getByLabel("Select the 2 rows shown").click();
  await manage("PUT", "customers/org_3", { body: {} });
  const bar = page.getByRole("region", { name: "Selected customers" });
  await bar.getByRole("button", { name: "Select all that match this filter…" }).click();
  await bar.getByRole("button", { name: "Select all 3 customers that match" }).click();
  await bar.getByText("3 selected").waitFor();
  await expectAccessible(page);
  expect(await download(page)).toEqual(["org_1", "org_2", "org_3"]);
});
