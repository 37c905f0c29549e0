import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { signIn } from "./browser.ts";

const ADA = "/projects/1/test/customers/ada";

test("if a renewal is recorded late, the grants and the ledger show the renewal date", async () => {
  const { service, consume, manage, database } = await setupManage();
  await windBack(database, 45 * DAY_MS);
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "late" });
  const { items } = (await manage("GET", "customers/ada/grants")).body;
  const [renewed] = items as { effectiveAt: string; recordedAt: string }[];
  const [renewedAt, recordedAt] = [renewed?.effectiveAt ?? "", renewed?.recordedAt ?? ""];
  expect(Date.parse(recordedAt) - Date.parse(renewedAt)).toBeGreaterThan(DAY_MS);
  for (const tab of ["grants", "ledger"]) {
    const page = await signIn(service.url, `${ADA}/${tab}`);
    const row = page.getByRole("row").filter({ has: page.locator(`time[datetime="${renewedAt}"]`) });
    await row.filter({ hasText: "Plan credits" }).first().waitFor();
    const others = page.locator("tr", { hasText: "Plan credits" }).locator(`time[datetime="${recordedAt}"]`);
    expect(await others.count()).toBe(0);
  }
});

test("the balance chart uses a singular label for a single change", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "Latest change as a table", exact: true }).waitFor();
});

test("the plan card marks the default plan, and the Add credits form explains the reference field", async () => {
  const { service, manage, consume } = await setupManage();
  const set = await manage("PUT", "default-plan", { body: { plan: "pro" } });
  expect(set.status).toBe(200);
  await consume({ customerId: "grace", feature: "image.render", idempotencyKey: "first" });
  const page = await signIn(service.url, "/projects/1/test/customers/grace");
  await page.getByText("Version 1, default plan", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByText("Optional. Credits are added only once per reference.", { exact: true }).waitFor();
});
