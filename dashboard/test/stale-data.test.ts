import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const ADA = "/projects/1/test/customers/ada";

/** Responds like a rate-limiting gateway. */
const refuse = (route: Route): Promise<void> =>
  route.fulfill({ status: 429, json: { title: "Too much at once", detail: "Come back in a minute." } });

const PROFILE = /\/customers\/ada$/;

test("the Revoke dialog loads current data first, and cannot be confirmed if loading fails", async () => {
  const { service, manage, consume, topUp } = await setupManage();
  await topUp("ada", 50);
  const page = await signIn(service.url, `${ADA}/grants`);
  const revoke = page.getByRole("button", { name: "Revoke grant 2" });
  await revoke.waitFor();
  await consume({ customerId: "ada", feature: "image.render", quantity: 12, idempotencyKey: "k1" });
  await revoke.click();
  await page.getByRole("button", { name: "Revoke 30 credits in test" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[role=dialog]:not([aria-modal=false])").waitFor({ state: "detached" });

  await page.route(PROFILE, refuse);
  await revoke.click();
  await page.getByRole("dialog").getByText("Too much at once").waitFor();
  expect(await page.getByRole("button", { name: /in test$/ }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByText("Some data could not be refreshed").waitFor();
  await expectAccessible(page);
  await page.unroute(PROFILE);
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("Some data could not be refreshed").waitFor({ state: "detached" });
  expect((await manage("GET", "customers/ada")).body["balances"]).toEqual([
    { pool: "credits", balance: 30, held: 0, overage: null },
  ]);
});

test("an open Block dialog does not turn into an Unblock dialog if someone else blocks the customer", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Block" }).click();
  await page.getByRole("button", { name: "Block in test" }).waitFor();
  await manage("PUT", "customers/ada/block", { body: { blocked: true } });
  await comeBack(page, PROFILE);
  await page.getByText("Blocked", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Block in test" }).click();
  await page.getByText("Blocked ada").waitFor();
  expect((await manage("GET", "customers/ada")).body["isBlocked"]).toBe(true);
});

/** Waits until the data is stale, then simulates a return to the window. */
async function comeBack(page: Page, asked: RegExp): Promise<void> {
  await page.waitForTimeout(5_500);
  const answered = page.waitForResponse((response) => asked.test(new URL(response.url()).pathname));
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await answered;
}

test("credits are not added if their preview fails", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.route("**/credits/preview", refuse);
  await page.getByRole("button", { name: "Add credits" }).click();
  await page.getByText("Enter an amount to see a preview.").waitFor();
  await page.getByLabel("Credits", { exact: true }).fill("25");
  await page.getByRole("alert").getByText("Too much at once").waitFor();
  expect(await page.getByText("Enter an amount").count()).toBe(0);
  const asked = page.waitForResponse("**/credits/preview");
  await page.getByRole("button", { name: "Add 25 credits in test" }).click();
  await asked;
  await expect.poll(() => page.getByRole("alert").count()).toBe(1);
  expect((await manage("GET", "customers/ada")).body["balances"]).toEqual([
    { pool: "credits", balance: 100, held: 0, overage: null },
  ]);
});

test("a failed request for the next page is reported at the end of the list", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test");
  await page.route(/\/customers\?/, refuse);
  await page.route(/\/customers$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), nextCursor: "further" } });
  });
  await page.getByRole("link", { name: "Customers" }).first().click();
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("alert").getByText("Too much at once").waitFor();
  await page.getByText("First result").waitFor();
  expect(await page.getByText("Some data could not be refreshed").count()).toBe(0);
});

test("Enter never opens stale search results, and a failed search shows an error", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type("ada");
  await page.getByRole("option", { name: /ada/ }).waitFor();
  let answer: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/search\?q=bob/, (route) => held.then(() => refuse(route)));
  await page.getByRole("combobox", { name: "Search everything" }).fill("bob");
  await page.keyboard.press("Enter");
  answer?.();
  await page.getByRole("alert").getByText("Too much at once").waitFor();
  expect(await page.getByText("No results.").count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe("/projects/1/test");
});
