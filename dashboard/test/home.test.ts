import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { seedDemo } from "../../service/src/commands/demo/seed-demo.ts";
import { createFirstOwner } from "../../service/src/manage/people/set-up.ts";
import { createDatabase, createTestProject, startTestService } from "../../service/test/harness.ts";
import { type Managed, nameSeeds, setupManage } from "../../service/test/manage.ts";
import { OWNER, openTestPool } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { setupRunningOut } from "./running-out.ts";

// Full user journeys can be slow on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const UNKNOWN_KEYS = "Unknown features and unnamed events";

const part = (page: Page, title: string): Locator => page.locator(`section:has(h2:text-is("${title}"))`);

/** Sends five successful requests, three denials and four errors, and waits until all are logged. */
async function sendTraffic({ consume, check, record, manage }: Managed): Promise<void> {
  const charge = { customerId: "ada", feature: "image.render" };
  for (const idempotencyKey of ["a", "b", "c"]) await consume({ ...charge, idempotencyKey });
  await record({ customerId: "ada", event: "tokens.generated", quantity: 5 });
  await record({ customerId: "ada", event: "tokens.generated", quantity: 7 });
  await consume({ ...charge, feature: "video.render", idempotencyKey: "d" });
  await check({ ...charge, feature: "video.render" });
  await consume({ ...charge, quantity: 1000, idempotencyKey: "e" });
  await consume({ ...charge, feature: "image.rendr", idempotencyKey: "f" });
  await check({ ...charge, feature: "image.rendr" });
  await consume({ ...charge, quantity: 0, idempotencyKey: "g" });
  await consume({ ...charge, quantity: 2, idempotencyKey: "a" });
  const total = async () => (await manage("GET", "requests/summary")).body["total"];
  await expect.poll(total).toEqual({ ok: 5, denied: 3, failed: 4 });
}

test("Home counts requests by outcome, denials by reason and errors by code", async () => {
  const managed = await setupManage();
  await sendTraffic(managed);
  await nameSeeds(managed);
  await managed.manage("PUT", "event-keys/tokens.generated", { body: { name: "Generated tokens" } });
  const page = await signIn(managed.service.url, "/projects/1/test");
  const traffic = part(page, "Last 24 hours");
  await traffic.getByText("Allowed or recorded").waitFor();
  const figures = traffic.locator("dd > span:first-child");
  expect((await figures.allTextContents()).slice(0, 3)).toEqual(["5", "3", "4"]);
  await traffic.getByText("None before").first().waitFor();
  await traffic
    .getByRole("img", { name: /Requests by hour/ })
    .locator("path")
    .first()
    .waitFor();
  await expectAccessible(page);
  await traffic.getByRole("button", { name: "Table" }).click();
  const rows = await traffic.locator("tbody tr").allTextContents();
  expect(rows).toHaveLength(24);
  // The requests can span two hours, so sum each column.
  const sums = [0, 1, 2].map(async (column) =>
    (await traffic.locator(`tbody td:nth-child(${column + 2})`).allTextContents()).reduce(
      (sum, text) => sum + Number(text),
      0,
    ),
  );
  expect(await Promise.all(sums)).toEqual([5, 3, 4]);
  await expectAccessible(page);

  expect(await part(page, "Denials by reason").locator("li").allTextContents()).toEqual([
    expect.stringMatching(/^Feature not in plan.*2$/),
    expect.stringMatching(/^Not enough credits.*1$/),
  ]);
  const latest = part(page, "Latest requests");
  expect(await latest.locator("tbody tr").count()).toBe(10);
  expect(await latest.getByRole("link", { name: "Why?" }).count()).toBe(3);
  await latest.getByText("Product image", { exact: true }).first().waitFor();
  await latest.getByText("Generated tokens", { exact: true }).first().waitFor();
  await part(page, "Errors by code").getByRole("link", { name: "Unknown feature" }).click();
  await page.waitForURL("**/requests?code=feature_not_found&range=24h");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
});

test("unknown features and unnamed events link to their forms, and a feature leaves the list once created", async () => {
  const managed = await setupManage();
  await sendTraffic(managed);
  const page = await signIn(managed.service.url, "/projects/1/test", { scheme: "dark" });
  const keys = part(page, UNKNOWN_KEYS);
  await keys.getByText("Unknown feature, 2 requests").waitFor();
  await keys.getByText("Unnamed event key, 2 events").waitFor();
  await expectAccessible(page);
  await keys.getByRole("link", { name: "Add name for tokens.generated" }).click();
  await page.waitForURL("**/features/event-keys?search=tokens.generated");
  await page.goBack();
  await keys.getByRole("link", { name: "Create image.rendr" }).click();
  await page.waitForURL("**/features?define=image.rendr");
  await managed.manage("PUT", "features/image.rendr", { body: { name: "Render", cost: { credits: 1 } } });
  await page.goto("/projects/1/test");
  await keys.getByText("Unnamed event key, 2 events").waitFor();
  await expect.poll(() => keys.getByText("image.rendr").count()).toBe(0);
});

test("the low-balance threshold can be set with the keyboard and is kept in the URL", async () => {
  const { service, topUp } = await setupManage();
  await topUp("bob", 5);
  const page = await signIn(service.url, "/projects/1/test");
  const low = part(page, "Low balances");
  await low.getByRole("link", { name: "bob" }).waitFor();
  expect(await low.locator("li").count()).toBe(1);
  const box = low.getByLabel("Balance below");
  while (!(await box.evaluate((input) => input === document.activeElement))) await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("250");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/test?balanceBelow=250");
  await low.getByRole("link", { name: "ada" }).waitFor();
  await page.reload();
  await low.getByRole("link", { name: "ada" }).waitFor();
  expect(await box.inputValue()).toBe("250");
  await page.goto("/projects/1/test?balanceBelow=0");
  await low.getByText("No customers with fewer than 0 credits found.").waitFor();
});

test("Home lists the customers who will run out of credits this week, with links", async () => {
  const { service } = await setupRunningOut();
  const page = await signIn(service.url, "/projects/1/test?balanceBelow=1001");
  const soon = part(page, "Running out this week");
  await soon.getByRole("link", { name: "Fast Films" }).waitFor();
  await soon.getByText("Empty in about 2 days").waitFor();
  expect(await soon.locator("li").count()).toBe(1);
  await soon.getByText("Based on average daily usage over the last 14 days.").waitFor();
  const low = part(page, "Low balances");
  await low.locator("li").filter({ hasText: "idle" }).getByText("Not used recently").waitFor();
  await expectAccessible(page);
  await soon.getByRole("link", { name: "View all" }).click();
  await page.waitForURL("**/running-out?days=7");
  await page.getByLabel("Runs out").selectOption("");
  await page.waitForURL("**/running-out");
  const rows = page.locator('section[aria-label="Customers running out"] tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  expect(await rows.allTextContents()).toEqual([
    expect.stringMatching(/^spent.*Empty/),
    expect.stringMatching(/^Fast Filmsfast.*pay@fast\.example.*Empty in about 2 days/),
    expect.stringMatching(/^slow.*Empty in about 2\d\d days/),
  ]);
  await expectAccessible(page);
  await page.getByLabel("Runs out").selectOption("7");
  await page.waitForURL("**/running-out?days=7");
  await expect.poll(() => rows.count()).toBe(2);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const [header, , line, rest] = readFileSync(await (await download).path(), "utf8").split("\r\n");
  expect(header).toMatch(/^Customer,Customer ID,Email,Plan,Balance,Used per day,Days left,Empty,Renews$/);
  expect([line, rest]).toEqual([expect.stringMatching(/^Fast Films,fast,pay@/), ""]);
  // Clicking the row outside the link also opens the customer.
  await rows.filter({ hasText: "Fast Films" }).getByText("Empty in about 2 days").last().click();
  await page.waitForURL("**/customers/fast");
});

test("a possible double charge is flagged on Home and on the customer's overview", async () => {
  const { service, consume, topUp, manage } = await setupManage();
  await topUp("ada", 500);
  for (const idempotencyKey of ["a", "b"])
    await consume({ customerId: "ada", feature: "image.render", quantity: 7, idempotencyKey });
  const requests = async () => ((await manage("GET", "requests")).body["items"] as unknown[]).length;
  await expect.poll(requests).toBe(2);
  const page = await signIn(service.url, "/projects/1/test");
  const double = part(page, "Possible double charges");
  await double.getByText(/^2 × .*, 70 credits in repeat charges/).waitFor();
  const since = double.getByText(/^Some requests from before/).locator("time");
  const sinceAt = Date.parse((await since.getAttribute("datetime")) ?? "");
  expect((Date.now() - sinceAt) / 86_400_000).toBeCloseTo(7, 1);
  await double.getByRole("link", { name: "ada", exact: true }).click();
  await page.getByText("Possible double charge").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Open ledger" }).click();
  await page.waitForURL(/\/ledger#entry-\d+$/);
  await page
    .getByText(/Possible duplicate/)
    .first()
    .waitFor();
});

test("a failed card on Home shows an error with a Retry button, and the other cards load", async () => {
  const managed = await setupManage();
  await sendTraffic(managed);
  const page = await signIn(managed.service.url, "/projects/1/test/customers");
  const problem = { title: "No", code: "role_missing", detail: "Not today.", requestId: "req_1" };
  const isSummary = (url: URL): boolean => url.pathname.endsWith("/requests/summary");
  await page.route(isSummary, (route) => route.fulfill({ status: 403, json: problem }));
  await page.goto("/projects/1/test");
  const traffic = part(page, "Last 24 hours");
  await traffic.getByText("Not today.").waitFor();
  expect(await part(page, "Latest requests").locator("tbody tr").count()).toBe(10);
  await part(page, "Low balances").getByRole("link", { name: "ada" }).waitFor();
  await expectAccessible(page);
  await page.unroute(isSummary);
  await traffic.getByRole("button", { name: "Retry" }).click();
  await traffic.getByText("Allowed or recorded").waitFor();
});

test("the demo lists three support cases without revealing their solutions", async () => {
  const database = await createDatabase();
  const project = await createTestProject(database);
  await seedDemo(database.url, { ...project, environmentId: project.test.environmentId });
  const pool = openTestPool(database.serviceUrl);
  onTestFinished(() => pool.end());
  await createFirstOwner(pool, OWNER);
  const service = await startTestService(database);
  const page = await signIn(service.url, "/projects/1/test", { scheme: "dark" });
  const cases = part(page, "Demo: sample support cases");
  await cases.getByRole("link", { name: "Northlight Robotics" }).waitFor();
  expect(await cases.getByRole("link").count()).toBe(3);
  expect(await cases.textContent()).not.toMatch(/twice|double|wrong|Labs|limit|20 a day/i);
  // The demo data includes denials and errors.
  await part(page, "Denials by reason").getByText("Not enough credits").waitFor();
  await part(page, "Errors by code").getByText("idempotency_key_reused").waitFor();
  expect(await part(page, "Latest requests").locator("tbody tr").count()).toBe(10);
  await part(page, UNKNOWN_KEYS).getByRole("link", { name: "Create image.upscale" }).waitFor();
  await part(page, UNKNOWN_KEYS).getByRole("link", { name: "Add name for editor.opened" }).waitFor();
  await expectAccessible(page);
  await cases.getByRole("link", { name: "Fernweh Films" }).click();
  await page.waitForURL("**/customers/org_1009");
  await page.goto("/projects/1/live");
  await page.getByText("No data in Live yet").waitFor();
  expect(await page.getByText("Demo: sample support cases").count()).toBe(0);
  await expectAccessible(page);
});

test("a viewer sees the home page without write actions", async () => {
  const managed = await setupManage();
  await sendTraffic(managed);
  const credentials = await addMember(managed.service.url, managed.tokens.owner, "viewer");
  const page = await signIn(managed.service.url, "/projects/1/test", { credentials, width: 390 });
  await part(page, UNKNOWN_KEYS).getByText("image.rendr").waitFor();
  expect(await page.getByRole("link", { name: /^(Create|Name) / }).count()).toBe(0);
  await expectAccessible(page);
  await page.goto("/projects/1/live");
  await page.getByText("Promote the catalog").waitFor();
  expect(await page.getByRole("link", { name: "Compare Test with Live" }).count()).toBe(0);
});
