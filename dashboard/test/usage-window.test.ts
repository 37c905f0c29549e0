import { expect, test } from "vitest";
import { ageHistory } from "../../service/test/age-history.ts";
import { setupManage } from "../../service/test/manage.ts";
import { settle } from "../../service/test/usage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const DAY_MS = 86_400_000;

test("where the history window begins is drawn and explained, in the chart and in the list", async () => {
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
    await edge.getByText("Your workspace keeps 10 days to look at").waitFor();
    // In the drawing too.
    await edge.locator("svg").getByText("History begins here").waitFor();
    expect(await page.locator("main").textContent()).toContain("A quantity of 1,010 in all");
    await expectAccessible(page);
    await page.goto("/projects/1/test/usage/events");
    await page.getByText("All 2 events").waitFor();
    await page.getByText("Your workspace keeps 10 days to look at").waitFor();
    await expectAccessible(page);
  }
  // Of one before it nothing is shown.
  const dayOf = (daysAgo: number): string => `${at(daysAgo).slice(0, 10)}T00:00:00.000Z`;
  const before = await signIn(
    service.url,
    `/projects/1/test/usage?what=events&from=${dayOf(22)}&to=${dayOf(18)}`,
  );
  await before.getByText("History begins later").waitFor();
  expect(await before.locator("main svg text").count()).toBe(0);
  await expectAccessible(before);
  // A range within the window says nothing of it.
  const page = await signIn(service.url, "/projects/1/test/usage?what=events&range=7d");
  await page.getByRole("heading", { name: "Usage events by day" }).waitFor();
  expect(await page.getByText("History begins here").count()).toBe(0);
  await page.goto("/projects/1/test/usage/events?range=7d");
  await page.getByText("All 2 events").waitFor();
  expect(await page.getByText("History begins here").count()).toBe(0);
});

test("a ledger that the window cuts off sums to the balance by what is brought forward", async () => {
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
    expect(await forward.getByRole("listitem").textContent()).toMatch(/in credits, from before .*1,100$/);
    await page.getByText("The only one").waitFor();
    await expectAccessible(page);
    // Who did nothing in the window.
    await page.goto("/projects/1/test/customers/bob/ledger");
    await page.getByText("Nothing moved in the time that is shown").waitFor();
    expect(await forward.getByRole("listitem").count()).toBe(1);
    await expectAccessible(page);
    await page.goto("/projects/1/test/customers/bob/ledger?kind=reverse");
    await page.getByText("In the time that is shown this customer has none of this kind").waitFor();
    await page.goto("/projects/1/test/customers/bob");
    await page.getByText("Nothing has changed the balance lately.").waitFor();
    await expectAccessible(page);
  }
});
