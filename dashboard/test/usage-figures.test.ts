import { expect, test } from "vitest";
import { verifyUsageCommand } from "../../service/src/commands/verify-usage.ts";
import { brandAs, type Instant } from "../../service/src/primitives/brand.ts";
import { ageHistory } from "../../service/test/age-history.ts";
import { setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { readByCustomer, setupLastMonth, sumLastMonth } from "./last-month.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const USAGE = "/projects/1/test/usage";

test("the usage average excludes future hours, and the Export link keeps the range", async () => {
  const managed = await setupManage();
  await managed.record({ customerId: "ada", event: "tokens", quantity: 1 });
  await settle(managed);
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const [from, to] = [today, today + DAY_MS].map((at) => new Date(at).toISOString());
  const page = await signIn(managed.service.url, `${USAGE}?what=events&from=${from}&to=${to}`);
  const note = await page.getByText(/^Over \d+ hours?, including this hour$/).textContent();
  const hours = Number(note?.match(/\d+/)?.[0]);
  // A new hour can start during the test.
  expect([0, 1]).toContain(Math.floor((Date.now() - today) / HOUR_MS) + 1 - hours);
  await page.getByRole("link", { name: "Export" }).first().click();
  await page.getByRole("heading", { name: "Create export" }).waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toContain(String(from).slice(0, 10));
  await page.goto(`${USAGE}?what=events&range=7d`);
  await page.getByRole("heading", { name: "Usage events by day" }).waitFor();
  await page.locator("main").getByRole("link", { name: "Export", exact: true }).click();
  await page.getByLabel("To (exclusive)").waitFor();
});

test("percentages ignore groups with negative totals, and each pool has separate figures", async () => {
  const managed = await setupManage();
  const { service, manage, consume, topUp, database } = managed;
  await topUp("bob", 1_000);
  await managed.assign("bob");
  const use = async (customerId: string, quantity: number, key: string) =>
    consume({ customerId, feature: "image.render", quantity, idempotencyKey: key });
  await use("bob", 8, "old");
  await ageHistory(database, 40 * DAY_MS);
  const { body } = await manage("GET", "customers/bob/ledger?kind=consume");
  const [charge] = body["items"] as { consumeId: string }[];
  await manage("POST", `customers/bob/consumes/${charge?.consumeId}/reverse`, { body: {} });
  await use("ada", 10, "new");
  await manage("PUT", "pools/seconds", { body: { name: "Seconds" } });
  await settle(managed);
  // Repairs the roll-ups, because `ageHistory` changed the times of existing rows.
  const today = brandAs<Instant>(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  await verifyUsageCommand({ databaseUrl: database.url, repair: today, print: () => {} });
  const page = await signIn(service.url, `${USAGE}?groupBy=customer`);
  const lines = page.getByRole("region", { name: "By customer" });
  await lines.getByText("100%").waitFor();
  expect(await lines.getByText("%").count()).toBe(1);
  expect(await lines.getByRole("row").last().textContent()).toMatch(/bob.*-80$/);
  await page.getByLabel("Pool").selectOption("seconds");
  await page.waitForURL("**pool=seconds**");
  await page.getByText(/Try a longer range or other filters/).waitFor();
  await expectAccessible(page);
});

test("last month's usage by customer lists all customers with their names and credits", async () => {
  const managed = await setupLastMonth();
  const page = await signIn(managed.service.url, USAGE);
  await page.getByLabel("Range").selectOption("Last month");
  await page.getByRole("button", { name: "Customer", exact: true }).click();
  await expect.poll(() => readByCustomer(page)).toEqual(await sumLastMonth(managed));
  await page.getByText("360", { exact: true }).first().waitFor();
  await expectAccessible(page);
});

test("charts are shown in browsers without requestIdleCallback", async () => {
  const managed = await setupManage();
  await managed.record({ customerId: "ada", event: "tokens", quantity: 1 });
  await settle(managed);
  const page = await signIn(managed.service.url, "/workspace/settings");
  await page.addInitScript(() => void Reflect.deleteProperty(window, "requestIdleCallback"));
  await page.goto(`${USAGE}?what=events`);
  await page.getByRole("img", { name: /over time, as stacked bars/ }).waitFor();
  expect(await page.evaluate(() => "requestIdleCallback" in window)).toBe(false);
});
