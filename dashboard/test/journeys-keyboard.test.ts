import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupDuo } from "../../service/test/imports.ts";
import { setupManage } from "../../service/test/manage.ts";
import { DAY_MS, windBack } from "../../service/test/wind-back.ts";
import { signIn } from "./browser.ts";
import { expectOpeningBalances, OPENING_BALANCES, OPENING_TOTALS, readReport } from "./opening-balances.ts";
import { pressEnterOn, typeInto } from "./tab-to.ts";

// Each test starts on Home and uses only the keyboard.
const HOME = "/projects/1/test";

const SCALE = {
  key: "scale",
  name: "Scale",
  allowances: [{ pool: "credits", credits: 5_000, period: "month", rollover: 0, overage: 0 } as const],
};

const button = (page: Page, name: string) => page.getByRole("button", { name });
const dialogOf = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });

/** Finds customer `ada` with Ctrl K. */
async function findAda(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("ada");
  await page.getByRole("option", { name: /^ada/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/customers/ada");
}

test("a plan is canceled at the end of the period, and the cancellation is undone", async () => {
  const { service, manage } = await setupManage();
  const read = async () => (await manage("GET", "customers/ada")).body;
  const before = await read();
  const page = await signIn(service.url, HOME);
  await findAda(page);
  await pressEnterOn(page, button(page, "Cancel plan"));
  const cancel = dialogOf(page, "Cancel Pro for ada");
  await cancel.getByText("The customer keeps Pro and its credits until").waitFor();
  // The arrow keys choose when the plan ends.
  await page.keyboard.press("ArrowDown");
  await button(page, "Cancel Pro now in test").waitFor();
  await page.keyboard.press("ArrowUp");
  await pressEnterOn(page, button(page, "Cancel Pro in test"));
  await page.getByText("Canceled Pro for ada").waitFor();
  await cancel.waitFor({ state: "detached" });
  const { periodEndsAt } = before["plan"] as { periodEndsAt: string };
  expect(await read()).toMatchObject({
    plan: { key: "pro", endsAt: periodEndsAt },
    nextPlan: null,
    balances: [{ balance: 100 }],
  });

  // The focus is on the button that undoes the cancellation.
  await page.keyboard.press("Enter");
  const keep = dialogOf(page, "Keep Pro for ada");
  await keep.getByText("Pro continues with no end date.").waitFor();
  await pressEnterOn(page, button(page, "Keep Pro in test"));
  await page.getByText("ada keeps Pro").waitFor();
  expect(await read()).toEqual(before);
});

test("a plan is upgraded now and downgraded at the end of the period", async () => {
  const { service, manage, publish, consume, database } = await setupManage();
  await publish(SCALE);
  const read = async () => (await manage("GET", "customers/ada")).body;
  const page = await signIn(service.url, HOME);
  await findAda(page);
  await pressEnterOn(page, button(page, "Assign plan"));
  const dialog = dialogOf(page, "Assign plan to ada");
  await typeInto(page, dialog.getByLabel("Plan", { exact: true }), "Scale");
  await dialog.getByText("Balance 100 → 5,000").waitFor();
  await pressEnterOn(page, button(page, "Assign Scale in test"));
  await page.getByText("Assigned Scale to ada").waitFor();
  await dialog.waitFor({ state: "detached" });
  const upgraded = await read();
  expect(upgraded).toMatchObject({
    plan: { key: "scale", endsAt: null },
    nextPlan: null,
    balances: [{ balance: 5_000 }],
  });

  // The focus is on "Assign plan" again.
  await page.keyboard.press("Enter");
  await typeInto(page, dialog.getByLabel("Plan", { exact: true }), "Pro");
  await typeInto(page, dialog.getByLabel("Starts"), "End of period");
  await dialog.getByText("Pro has less favorable terms than Scale").waitFor();
  await pressEnterOn(page, button(page, "Schedule Pro in test"));
  await page.getByText("Scheduled Pro for ada").waitFor();
  await dialog.waitFor({ state: "detached" });
  const { plan } = upgraded as { plan: { periodEndsAt: string } };
  expect(await read()).toEqual({
    ...upgraded,
    nextPlan: expect.objectContaining({ key: "pro", startsAt: plan.periodEndsAt, endsAt: null }),
  });

  await windBack(database, 31 * DAY_MS);
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "next-period" });
  expect(await read()).toMatchObject({ plan: { key: "pro" }, nextPlan: null, balances: [{ balance: 90 }] });
});

test("an override limits one customer, and explains a later denial", async () => {
  const { service, manage, assign, consume } = await setupManage();
  await assign("bob");
  const page = await signIn(service.url, HOME);
  await findAda(page);
  await pressEnterOn(page, button(page, "More actions"));
  await pressEnterOn(page, page.getByRole("menuitem", { name: "Edit overrides" }), "ArrowDown");
  const dialog = dialogOf(page, "Overrides for ada");
  await typeInto(page, dialog.getByLabel("Add override"), "Feature: export");
  await pressEnterOn(page, dialog.getByRole("button", { name: "Add", exact: true }));
  const exports = dialog.getByRole("group", { name: "export" });
  await typeInto(page, exports.getByLabel("Limit", { exact: true }), "Custom limit per day");
  await typeInto(page, exports.getByLabel("Limit quantity"), "2");
  await pressEnterOn(page, button(page, "Save overrides in test"));
  await page.getByText("Saved overrides for ada").waitFor();
  await dialog.waitFor({ state: "detached" });
  const { body } = await manage("GET", "customers/ada");
  expect(body["overrides"]).toMatchObject({
    features: { export: { limit: { quantity: 2, period: "day" } } },
    endsAt: null,
  });

  const exportAs = async (customerId: string) =>
    (await consume({ customerId, feature: "export", quantity: 3, idempotencyKey: customerId })).body;
  expect(await exportAs("bob")).toMatchObject({ allowed: true });
  expect(await exportAs("ada")).toMatchObject({ allowed: false, reason: "limit_reached" });
  const tabs = page.getByRole("navigation", { name: "Customer" });
  await pressEnterOn(page, tabs.getByRole("link", { name: "Requests" }));
  await pressEnterOn(page, page.getByRole("link", { name: "Why?" }));
  await page.getByRole("heading", { name: "Denied: limit reached" }).waitFor();
  await page
    .getByText(
      "An override for this customer limits export to 2 a day. None were used, but the request asked for 3.",
    )
    .waitFor();
  await pressEnterOn(page, page.getByRole("link", { name: "Edit overrides" }));
  await dialog.waitFor();
  expect(await exports.getByLabel("Limit quantity").inputValue()).toBe("2");
});

// The import can take half a minute on a busy machine.
const PATIENCE = { timeout: 180_000 };

test("5,000 customers are imported with their balances and renewal days", PATIENCE, async () => {
  const managed = await setupDuo();
  const page = await signIn(managed.service.url, HOME);
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await pressEnterOn(page, button(page, "Import CSV"));
  const chooser = page.waitForEvent("filechooser");
  await pressEnterOn(page, page.getByLabel("File"));
  await (await chooser).setFiles(OPENING_BALANCES);
  await pressEnterOn(page, button(page, "Check file"));
  await page.getByText("Nothing has been imported yet. 10,001 rows checked.").waitFor();
  expect(await readReport(page, "Credits to be added")).toEqual(OPENING_TOTALS);
  expect(await managed.database.count("cell.customers")).toBe(1);
  await pressEnterOn(page, button(page, "Import 10,000 rows into test"));
  await page.getByText("Import complete. 10,001 rows processed.").waitFor(PATIENCE);
  expect(await readReport(page, "Credits added")).toEqual(OPENING_TOTALS);
  await expectOpeningBalances(managed);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "customer_4999" }).waitFor();
});
