import { expect, test } from "vitest";
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
  // A range within the window says nothing of it.
  const page = await signIn(service.url, "/projects/1/test/usage?what=events&range=7d");
  await page.getByRole("heading", { name: "Usage events by day" }).waitFor();
  expect(await page.getByText("History begins here").count()).toBe(0);
  await page.goto("/projects/1/test/usage/events?range=7d");
  await page.getByText("All 2 events").waitFor();
  expect(await page.getByText("History begins here").count()).toBe(0);
});
