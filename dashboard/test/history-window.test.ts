import { expect, test } from "vitest";
import { ageHistory } from "../../service/test/age-history.ts";
import { setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const DAY_MS = 86_400_000;

test("the usage chart and the event list show where the history window starts", async () => {
  const managed = await setupManage();
  const { service, record, manage } = managed;
  const at = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  for (const daysAgo of [1, 3, 20])
    await record({
      customerId: "ada",
      event: "tokens",
      quantity: 10 ** daysAgo % 999_999,
      timestamp: at(daysAgo),
    });
  const limits = { historyDaysMax: 10 };
  expect((await manage("PATCH", "/manage/v1/workspace", { body: { limits } })).status).toBe(200);
  await settle(managed);
  for (const scheme of ["light", "dark"] as const) {
    const page = await signIn(service.url, "/projects/1/test/usage?what=events", { scheme });
    const edge = page.locator("main section", { hasText: "Usage events by day" });
    await edge.getByText("Your workspace shows 10 days of history").waitFor();
    // The chart also marks where the history starts.
    await edge.locator("svg").getByText("History starts here").waitFor();
    expect(await page.locator("main").textContent()).toContain("Total quantity 1,010");
    await expectAccessible(page);
    await page.goto("/projects/1/test/usage/events");
    await page.getByText("All 2 events").waitFor();
    await page.getByText("Your workspace shows 10 days of history").waitFor();
    await expectAccessible(page);
  }
  // A range before the history window shows an explanation instead of a chart.
  const dayOf = (daysAgo: number): string => `${at(daysAgo).slice(0, 10)}T00:00:00.000Z`;
  const before = await signIn(
    service.url,
    `/projects/1/test/usage?what=events&from=${dayOf(22)}&to=${dayOf(18)}`,
  );
  await before.getByText("Outside your history window").waitFor();
  expect(await before.locator("main svg text").count()).toBe(0);
  await expectAccessible(before);
  // A range within the history window shows no note.
  const page = await signIn(service.url, "/projects/1/test/usage?what=events&range=7d");
  await page.getByRole("heading", { name: "Usage events by day" }).waitFor();
  expect(await page.getByText("History starts here").count()).toBe(0);
  await page.goto("/projects/1/test/usage/events?range=7d");
  await page.getByText("All 2 events").waitFor();
  expect(await page.getByText("History starts here").count()).toBe(0);
});

test("a ledger truncated by the history window shows the balance brought forward", async () => {
  const { service, manage, consume, topUp, assign, database } = await setupManage();
  await assign("bob");
  await topUp("ada", 1_000);
  await ageHistory(database, 20 * DAY_MS);
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "new" });
  const limits = { historyDaysMax: 10 };
  expect((await manage("PATCH", "/manage/v1/workspace", { body: { limits } })).status).toBe(200);
  for (const look of [
    { scheme: "light", width: 1440 },
    { scheme: "dark", width: 390 },
  ] as const) {
    const page = await signIn(service.url, "/projects/1/test/customers/ada/ledger", look);
    const forward = page.getByRole("region", { name: "Brought forward" });
    const line = forward.getByRole("listitem");
    await expect.poll(() => line.textContent()).toMatch(/balance in Credits before .*1,100$/);
    await page.getByText("1 result").waitFor();
    await expectAccessible(page);
    // Bob has no entries within the history window.
    await page.goto("/projects/1/test/customers/bob/ledger");
    await page.getByText("No entries in your history window").waitFor();
    expect(await forward.getByRole("listitem").count()).toBe(1);
    await expectAccessible(page);
    await page.goto("/projects/1/test/customers/bob/ledger?kind=reverse");
    await page.getByText("No entries match the filters.").waitFor();
    await page.goto("/projects/1/test/customers/bob");
    await page.getByText("No recent balance changes.").waitFor();
    await expectAccessible(page);
  }
});
