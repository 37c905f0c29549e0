import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { OWNER } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const EXPORTS = "/projects/1/test/usage/exports";

test("an invalid custom range stays in the form and cannot be exported", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, `${EXPORTS}?kind=ledger`);
  await page.getByLabel("Time range").selectOption("custom");
  await page.getByLabel("To (exclusive)").fill("2026-10-05T10:00");
  await page.getByText("Must be after the start").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Export the ledger from test" }).click();
  expect(await page.getByText("No exports yet").count()).toBe(1);
  const from = page.getByLabel("From");
  await from.fill("2026-10-01T10:00");
  // Enter applies the new date without leaving the field.
  await from.press("Enter");
  await page.getByRole("listitem", { name: "ledger-test-2026-10-01-to-2026-10-05.csv" }).waitFor();
  const { text } = await manage("GET", "/manage/v1/audit?action=ledger.exported");
  expect(text).toContain('"from":"2026-10-01T');
});

test("exports report the history window, ignore double clicks, and are cleared on logout", async () => {
  const { service, manage, topUp } = await setupManage();
  await topUp("ada", 500);
  const limits = { historyDaysMax: 10 };
  expect((await manage("PATCH", "/manage/v1/workspace", { body: { limits } })).status).toBe(200);
  const page = await signIn(service.url, `${EXPORTS}?kind=grants`);
  await page.getByRole("button", { name: "Export grants from test" }).click();
  const file = page.getByRole("listitem", { name: "grants-test-all.csv" });
  await file.getByText("Saved").waitFor();
  await file.getByText(/Your history window starts at .*\. Older rows are not included\./).waitFor();
  await page.getByLabel("Time range").selectOption("2026-01");
  await page.getByRole("button", { name: "Export grants from test" }).dblclick();
  const hidden = page.getByRole("listitem", { name: "grants-test-2026-01.csv" });
  await hidden.getByText("The range is outside your history window").waitFor();
  expect(await hidden.count()).toBe(1);
  await expectAccessible(page);

  await page.getByRole("button", { name: OWNER.name }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.waitForURL((address) => address.pathname !== "/log-in");
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("link", { name: "Exports" }).click();
  await page.getByText("No exports yet").waitFor();
});
