import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const USAGE = "/projects/1/test/usage";
const DAY_MS = 86_400_000;

/** Noon UTC, `daysAgo` days ago. */
const noon = (daysAgo: number): string =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - daysAgo * DAY_MS).toISOString();

/** Nine days of low usage by three customers, and a spike by customer "loud". */
async function setupSpike(): Promise<Managed> {
  const managed = await setupManage();
  const { record } = managed;
  for (let daysAgo = 1; daysAgo <= 9; daysAgo++) {
    for (const customerId of ["ada", "bob", "carol"]) {
      const model = customerId === "bob" ? "small" : "large";
      await record({
        customerId,
        event: "tokens",
        quantity: 100,
        timestamp: noon(daysAgo),
        metadata: { model },
      });
    }
  }
  for (let times = 0; times < 40; times++)
    await record({
      customerId: "loud",
      event: "tokens",
      quantity: 900,
      timestamp: noon(4),
      metadata: { model: "huge" },
    });
  await record({ customerId: "ada", event: "visits", quantity: 1, timestamp: noon(4) });
  await settle(managed);
  return managed;
}

/** Hovers and clicks the highest bar. */
async function clickHighestBar(page: Page): Promise<void> {
  const chart = page.getByRole("img", { name: /over time, as stacked bars/ });
  const point = async (): Promise<number> => {
    const bars = await chart.locator(".recharts-bar-rectangle path").all();
    const boxes = (await Promise.all(bars.map((bar) => bar.boundingBox()))).flatMap((box) => box ?? []);
    const [highest] = boxes.sort((a, b) => b.height - a.height);
    if (highest === undefined) return 0;
    await page.mouse.move(highest.x + highest.width / 2, highest.y + highest.height / 2);
    await page.mouse.move(highest.x + highest.width / 2 + 1, highest.y + highest.height / 2);
    return page.getByText("Click to zoom in on this day").count();
  };
  await expect.poll(point).toBe(1);
  await page.mouse.down();
  await page.mouse.up();
}

test("three clicks lead from a usage spike to the customer who caused it", async () => {
  const { service } = await setupSpike();
  const page = await signIn(service.url, `${USAGE}?what=events`);
  await page.getByRole("heading", { name: "Usage events by day" }).waitFor();
  await expectAccessible(page);
  await clickHighestBar(page);
  await page.getByRole("heading", { name: "Usage events by hour" }).waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toContain(noon(4).slice(0, 10));
  await page.getByRole("button", { name: "Customer", exact: true }).click();
  const lines = page.getByRole("region", { name: "By customer" }).locator("tbody tr");
  await expect.poll(() => lines.first().textContent()).toContain("loud");
  await page.getByRole("link", { name: "loud" }).click();
  await page.waitForURL("**/customers/loud/usage?**");
  await page.getByRole("heading", { name: "loud" }).waitFor();
  // The customer's page shows the same day, with this customer's usage only.
  expect(await page.locator("main").textContent()).toContain("Total quantity 36,000");
  await expectAccessible(page);
});

test("the usage table shows the chart's numbers and can zoom in with the keyboard", async () => {
  const { service } = await setupSpike();
  const page = await signIn(service.url, USAGE, { scheme: "dark" });
  const what = page.getByLabel("Metric");
  await tabTo(page, what);
  await page.keyboard.type("Event quantity");
  await page.waitForURL("**/usage?what=quantity");
  await tabTo(page, page.getByRole("button", { name: "Table" }));
  await page.keyboard.press("Enter");
  const table = page.getByRole("region", { name: "Event quantity over time" });
  const day = table.locator("tbody tr").nth(4);
  expect((await day.locator("td").allTextContents()).slice(1)).toEqual(["36,301", "36,300", "1"]);
  await expectAccessible(page);
  await tabTo(page, day.getByRole("button"));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Event quantity by hour" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Event quantity by day" }).waitFor();
});

test("a customer's usage can be grouped by member, and each member links to the member's events", async () => {
  const managed = await setupManage();
  const { service, record, consume } = managed;
  const ada = { customerId: "ada", feature: "image.render" };
  await consume({ ...ada, memberId: "user_7", quantity: 2, idempotencyKey: "a" });
  await consume({ ...ada, idempotencyKey: "b" });
  for (const memberId of ["user_7", "user_7", "user_8"])
    await record({ customerId: "ada", event: "tokens", quantity: 1, memberId });
  await settle(managed);
  const page = await signIn(service.url, "/projects/1/test/customers/ada/usage");
  await page.getByRole("button", { name: "Member" }).click();
  const lines = page.getByRole("region", { name: "By member" });
  await lines.getByText("No member").waitFor();
  expect(await lines.locator("tbody tr td:first-child").allTextContents()).toEqual(["user_7", "No member"]);
  await expectAccessible(page);
  await page.getByLabel("Metric").selectOption("events");
  await lines.getByRole("link", { name: "user_7" }).click();
  await page.waitForURL(/usage\/events\?.*memberId=user_7/);
  await page.getByText("All 2 events").waitFor();
  await page
    .getByRole("button", { name: /^Details of tokens/ })
    .first()
    .click();
  await page.getByText("user_7").first().waitFor();
  await expectAccessible(page);
});

test("events can be grouped by a metadata field, and each value links to its events", async () => {
  const { service, manage } = await setupSpike();
  await manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
  const page = await signIn(service.url, `${USAGE}?what=events`, { width: 390 });
  await page.getByRole("button", { name: "Metadata" }).click();
  await page.getByLabel("Metadata field").fill("model");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/usage?**field=model**");
  const lines = page.getByRole("region", { name: "By metadata" });
  await lines.getByText("No model").waitFor();
  expect(await lines.locator("tbody tr td:first-child").allTextContents()).toEqual([
    "huge",
    "large",
    "small",
    "No model",
  ]);
  await expectAccessible(page);
  await lines.getByRole("link", { name: "small" }).click();
  await page.waitForURL(/usage\/events\?.*metadata=model%3Dsmall/);
  await page.getByText("All 9 events").waitFor();
  await page.getByText("Generated tokens", { exact: true }).first().waitFor();
  await page
    .getByRole("button", { name: /^Details of Generated tokens/ })
    .first()
    .click();
  await page.getByText("None. Events are not charged.").waitFor();
  await expectAccessible(page);
});

test("a feature or event filter shows the matching customers and can be removed with one click", async () => {
  const { service, consume, ...managed } = await setupManage();
  for (const idempotencyKey of ["a", "b"])
    await consume({ customerId: "ada", feature: "image.render", idempotencyKey });
  await consume({ customerId: "ada", feature: "video.render", idempotencyKey: "c" });
  await managed.record({ customerId: "ada", event: "tokens", quantity: 1 });
  await managed.manage("PUT", "event-keys/tokens", { body: { name: "Generated tokens" } });
  await settle(managed);
  const page = await signIn(service.url, USAGE);
  await page.getByRole("button", { name: /^image.render/ }).click();
  await page.waitForURL("**/usage?**feature=image.render**");
  await page.getByRole("link", { name: "ada" }).waitFor();
  expect(await page.locator("main").textContent()).toContain("2 charges, net of reversals");
  await page.getByRole("button", { name: "Remove filter feature image.render" }).click();
  await page.waitForURL((url) => !url.searchParams.has("feature"));
  await page.getByLabel("Metric").selectOption({ label: "Denials" });
  await page.getByRole("button", { name: "Reason" }).click();
  await page.getByRole("region", { name: "By reason" }).getByText("Feature not in plan").waitFor();
  await page.goto("/projects/1/live/usage");
  await page.getByRole("link", { name: "Send an event to Live" }).waitFor();
  await expectAccessible(page);

  // Event keys are also shown by name.
  await page.goto(`${USAGE}?what=events`);
  await page.getByRole("button", { name: /^Generated tokens/ }).click();
  await page.waitForURL(/event=tokens/);
  await page.getByRole("button", { name: "Remove filter event key Generated tokens" }).click();
  await page.waitForURL((address) => !address.searchParams.has("event"));
});

test("a customer's requests and ledger show the member of each request", async () => {
  const { service, consume } = await setupManage();
  const ada = { customerId: "ada", feature: "image.render", memberId: "user_7" };
  await consume({ ...ada, idempotencyKey: "a" });
  await consume({ ...ada, quantity: 500, idempotencyKey: "b" });
  const page = await signIn(service.url, "/projects/1/test/customers/ada/requests");
  await page.getByText("consume, member user_7").nth(1).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByRole("button", { name: "Details of entry 2" }).click();
  await page.locator("dd", { hasText: "user_7" }).waitFor();
});
