import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const ADA = "/projects/1/test/customers/ada";

/** Reads ada's balance and top-ups from the API. */
async function booksOf({ manage }: Managed): Promise<{ balance: unknown; topUps: unknown[] }> {
  const customer = await manage("GET", "customers/ada");
  const grants = (await manage("GET", "customers/ada/grants")).body["items"] as Record<string, unknown>[];
  return {
    balance: (customer.body["balances"] as Record<string, unknown>[])[0]?.["balance"],
    topUps: grants.filter(({ kind }) => kind !== "allowance"),
  };
}

async function openForm(page: Page, credits: string): Promise<void> {
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).fill(credits);
}

test("a top-up has a preview, a double click adds the credits once, and adding them again requires confirmation", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, ADA);
  await openForm(page, "1,500");
  await page.getByText("100 → 1,600").waitFor();
  await page.getByText("Enough for 150 × image.render").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add 1,500 credits in test" }).dblclick();
  await page.getByText("Added 1,500 credits to ada").waitFor();
  await page.getByText("Balance 100 → 1,600").waitFor();
  await page.getByText("1,600", { exact: true }).first().waitFor();
  expect(await booksOf(managed)).toMatchObject({
    balance: 1_600,
    topUps: [{ credits: 1_500, reference: expect.stringMatching(/^dashboard:/) }],
  });
  // The dashboard does not show the reference it generated.
  await page.getByRole("region", { name: "Remaining credits" }).getByText("Goodwill").waitFor();
  expect(await page.getByRole("main").textContent()).not.toContain("dashboard:");

  await openForm(page, "1500");
  await page.getByText(/Olga Owner added the same 1,500 credits (just now|\d+ seconds ago)/).waitFor();
  await expectAccessible(page);
  const add = page.getByRole("button", { name: "Add 1,500 credits in test" });
  expect(await add.isDisabled()).toBe(true);
  await page.getByLabel("Credits", { exact: true }).press("Enter");
  await page.getByLabel("Add another 1,500 credits").check();
  await add.click();
  await page.getByText("Balance 1,600 → 3,100").waitFor();
  expect(await booksOf(managed)).toMatchObject({ balance: 3_100, topUps: [{}, {}] });
});

test("the same credits can be added twice with the keyboard after confirmation", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, ADA, { scheme: "dark" });
  for (const balance of [600, 1_100]) {
    await tabTo(page, page.getByRole("button", { name: "Add credits", exact: true }));
    await page.keyboard.press("Enter");
    await page.getByLabel("Credits", { exact: true }).waitFor();
    // Submits before the preview arrives. The form still checks for duplicates.
    await page.keyboard.type("500");
    await page.keyboard.press("Enter");
    if (balance === 1_100) {
      await tabTo(page, page.getByLabel("Add another 500 credits"));
      await expectAccessible(page);
      await page.keyboard.press("Space");
      await page.keyboard.press("Enter");
    }
    await page
      .getByText(`→ ${balance.toLocaleString("en-US")}`)
      .first()
      .waitFor();
    await page.getByRole("dialog", { name: "Add credits to ada" }).waitFor({ state: "hidden" });
  }
  expect(await booksOf(managed)).toMatchObject({ balance: 1_100, topUps: [{}, {}] });
});

test("retrying a top-up after a truncated response adds the credits only once", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, ADA);
  await page.route(
    "**/customers/ada/credits",
    async (route) => {
      await route.fetch();
      await route.fulfill({ status: 200, contentType: "application/json", body: '{"outcome":' });
    },
    { times: 1 },
  );
  await openForm(page, "500");
  await page.getByRole("button", { name: "Add 500 credits in test" }).click();
  await page.getByText("You can retry safely.").waitFor();
  expect(await booksOf(managed)).toMatchObject({ balance: 600, topUps: [{}] });
  await page.getByRole("button", { name: "Add 500 credits in test" }).click();
  await page.getByText("Nothing added").waitFor();
  expect(await booksOf(managed)).toMatchObject({ balance: 600, topUps: [{}] });
});

test("a top-up submitted offline is not sent when the connection returns", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, ADA);
  await openForm(page, "500");
  await page.getByText("100 → 600").waitFor();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Add 500 credits in test" }).click();
  await page.getByText("Purser cannot be reached").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Assign plan" }).click();
  await page.getByRole("dialog").getByLabel("Plan", { exact: true }).selectOption("Pro (current)");
  await page.getByText("Nothing will change").waitFor();
  expect(await booksOf(managed)).toMatchObject({ balance: 100, topUps: [] });
});

test("price, reference, expiry and note are stored with the credits", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, ADA);
  await openForm(page, "20");
  await page.getByLabel("Kind").selectOption("Purchase");
  await page.getByLabel("Price paid").fill("19.9");
  await page.getByRole("button", { name: "Date", exact: true }).click();
  await page.getByLabel("Expires on").fill("2999-01-31T12:00");
  await page.getByLabel("Reference").fill("pi_77");
  await page.getByLabel("Note").fill("By phone");
  await page.getByRole("button", { name: "Add 20 credits in test" }).click();
  await page.getByText("Balance 100 → 120").waitFor();
  const given = {
    kind: "purchase",
    price: { amount: 1_990, currency: "EUR" },
    expiresAt: "2999-01-31T12:00:00.000Z",
    reference: "pi_77",
    note: "By phone",
  };
  expect(await booksOf(managed)).toMatchObject({ balance: 120, topUps: [given] });

  // The preview detects a reused reference.
  await openForm(page, "20");
  await page.getByLabel("Kind").selectOption("Purchase");
  await page.getByLabel("Reference").fill("pi_77");
  await page.getByText("Nothing will be added").waitFor();
  await page.getByLabel("Credits", { exact: true }).fill("21");
  await page.getByText("Reference already used for a different grant").waitFor();
  expect(await page.getByRole("button", { name: "Add 21 credits in test" }).isDisabled()).toBe(true);
});

test("adding credits in Live shows the environment in the button, dialog and title, and changes nothing in Test", async () => {
  const managed = await setupManage();
  const live = "/manage/v1/projects/1/live/customers/ada";
  await managed.manage("PUT", live, { body: { name: "Ada" } });
  // A form opened in Test does not stay open in Live.
  const page = await signIn(managed.service.url, ADA);
  await openForm(page, "77");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type("ada");
  await page.getByRole("option", { name: /Ada.*Live/ }).click();
  await page.waitForURL("**/live/customers/ada");
  await page.getByRole("dialog", { name: /Add credits/ }).waitFor({ state: "hidden" });
  await openForm(page, "500");
  expect(await page.title()).toBe("Ada · Live · Purser");
  expect(await page.getByRole("dialog").locator(".edge-live").count()).toBe(1);
  expect(await page.locator(".edge-test").count()).toBe(0);
  await page.getByText("The customer has no plan, so these credits cannot be spent yet.").waitFor();
  await page.getByRole("button", { name: "Add 500 credits in Live" }).click();
  await page.getByText("Balance 0 → 500").waitFor();
  expect((await managed.manage("GET", live)).body).toMatchObject({ balances: [{ balance: 500 }] });
  expect(await booksOf(managed)).toEqual({ balance: 100, topUps: [] });
});
