import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { setupManage } from "../../service/test/manage.ts";
import { setupOverage } from "../../service/test/overage.ts";
import { settle } from "../../service/test/usage.ts";
import { expectAccessible, expectAccessibleInBoth } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const MONTH_END = "/projects/1/test/usage/month-end";
const thisMonth = new Date().toISOString().slice(0, 7);

test("the monthly statement adds up and can be downloaded as CSV", async () => {
  const { service, consume, topUp, manage } = await setupManage();
  await topUp("ada", 500);
  const { body } = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
  await consume({ customerId: "ada", feature: "image.render", quantity: 3, idempotencyKey: "b" });
  await manage("POST", `customers/ada/consumes/${body["consumeId"]}/reverse`, { body: {} });
  const page = await signIn(service.url, MONTH_END);
  // The page opens last month, which has no credits.
  await page.getByRole("heading", { name: /^No credits in / }).waitFor();
  await expectAccessible(page);
  await tabTo(page, page.getByRole("button", { name: "Next month" }));
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/month-end?month=${thisMonth}`);
  const statement = page.getByRole("region", { name: "Monthly statement" });
  await statement.getByText("Total").waitFor();
  const rows = await Promise.all(
    (await statement.locator("tbody tr").all()).map((row) => row.locator("td").allInnerTexts()),
  );
  expect(rows).toEqual([
    ["Plan credits", "0", "+100", "−40", "0", "0", "+10", "70", "Adds up"],
    ["Goodwill", "0", "+500", "0", "0", "0", "0", "500", "Adds up"],
    ["Total", "0", "+600", "−40", "0", "0", "+10", "570", "Adds up"],
  ]);
  await page.getByText("Every line adds up").waitFor();
  await page.getByText(/Opening balances equal the closing balances of/).waitFor();
  await page.getByText(/^Pending: Complete up to/).waitFor();
  await expectAccessible(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe(`month-end-test-${thisMonth}-so-far.csv`);
  const [header = "", ...lines] = (await readFile(await file.path(), "utf8")).split("\r\n");
  expect(header).toBe(
    "month,from,to,completeTo,isFinal,pool,kind,opening,granted,used,expired,revoked,reversed,closing,overageUsed,overageReversed",
  );
  const time = "\\d{4}-[\\d-]+T[\\d:.]+Z";
  const about = `${thisMonth},${thisMonth}-01T00:00:00.000Z,${time},${time},false`;
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${about},credits,Plan credits,0,100,40,0,0,10,70,,$`)),
    expect.stringMatching(new RegExp(`^${about},credits,Goodwill,0,500,0,0,0,0,500,,$`)),
    "",
  ]);
  const dark = await signIn(service.url, `${MONTH_END}?month=${thisMonth}`, { scheme: "dark", width: 390 });
  await dark.getByText("Every line adds up").waitFor();
  await expectAccessible(dark);
});

test("the monthly statement shows the overage to invoice, separately from the balances", async () => {
  const { service, consume, manage, cell, database } = await setupOverage(null);
  const { body } = await consume({ feature: "image.render", quantity: 25 });
  await consume({ feature: "image.render", quantity: 2 });
  await manage("POST", `customers/ada/consumes/${body["consumeId"]}/reverse`, { body: { quantity: 3 } });
  await settle({ cell, database });
  const path = `${MONTH_END}?month=${thisMonth}`;
  const page = await signIn(service.url, path);
  const overage = page.getByRole("region", { name: "Overage" });
  expect(await overage.locator("tbody td").allInnerTexts()).toEqual(["Credits", "+170", "−30", "140"]);
  await page.getByText("Every line adds up").waitFor();
  await expectAccessibleInBoth(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const lines = (await readFile(await (await download).path(), "utf8")).split("\r\n");
  expect(lines.map((line) => line.split(",").slice(5).join(","))).toEqual([
    "pool,kind,opening,granted,used,expired,revoked,reversed,closing,overageUsed,overageReversed",
    "credits,Plan credits,0,100,100,0,0,0,0,,",
    "credits,Overage,,,,,,,,170,30",
    "",
  ]);
  // The usage page shows the same overage by customer.
  await page.getByRole("link", { name: "View by customer" }).click();
  await page.getByText("2 charges, net of reversals. To be invoiced.").waitFor();
  const customers = page.getByRole("region", { name: "By customer" });
  expect(await customers.locator("tbody td").allInnerTexts()).toEqual(["ada", "100%", "2", "140"]);
  await expectAccessibleInBoth(page);
  await page.getByRole("link", { name: "ada" }).click();
  await page.waitForURL("**/customers/ada/usage**");
  await page.getByRole("heading", { name: /^Overage by / }).waitFor();
  await expectAccessible(page);
  const narrow = await signIn(service.url, path, { scheme: "dark", width: 390 });
  await narrow.getByText("+170 used, −30 reversed").waitFor();
  await expectAccessible(narrow);
});

test("the monthly statement and the usage page show an error for totals beyond the safe integer range", async () => {
  const { service, topUp, consume, cell, context, publish, database } = await setupManage();
  const cost = { credits: 1_000_000_000, per: 1 };
  await defineFeature(cell, context, { key: "rocket", name: "Rocket", unit: null, pool: "credits", cost });
  await publish({ features: [{ feature: "rocket", limit: null }], reach: "now" });
  for (let i = 0; i < 10; i++) {
    await topUp("ada", 1e15);
    await consume({ customerId: "ada", feature: "rocket", quantity: 1e6, idempotencyKey: `${i}` });
  }
  await settle({ cell, database });
  const page = await signIn(service.url, `${MONTH_END}?month=${thisMonth}`);
  await page.getByText("A total is too large to be exact").waitFor();
  await page.getByText(/Choose a shorter range/).waitFor();
  await expectAccessible(page);
  await page.goto(`${service.url}/projects/1/test/usage`);
  await page.getByText("A total is too large to be exact").waitFor();
  await page.getByText(/Choose a shorter range/).waitFor();
});

test("the statement for a month before the history window shows an explanation", async () => {
  const { service, manage } = await setupManage();
  await manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax: 10 } } });
  const page = await signIn(service.url, `${MONTH_END}?month=2020-01`);
  await page.getByText(/is before the workspace's history window/).waitFor();
  await expectAccessible(page);
});
