import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const CUSTOMERS = "/projects/1/test/customers";

/** Ada received the 500 credits of Bob's payment and has spent 120 of them. */
async function setupWrongCustomer(): Promise<Managed> {
  const managed = await setupManage();
  const { manage, consume, assign } = managed;
  await manage("PUT", "customers/ada", { body: { name: "Ada Films" } });
  await assign("bob");
  await manage("PUT", "customers/bob", { body: { name: "Bob Studio" } });
  const payment = { credits: 500, kind: "purchase", reference: "pi_77" };
  await manage("POST", "customers/ada/credits", { body: payment });
  await consume({ customerId: "ada", feature: "image.render", quantity: 22, idempotencyKey: "spent" });
  return managed;
}

async function balanceOf({ manage }: Managed, customer: string): Promise<unknown> {
  const { body } = await manage("GET", `customers/${customer}`);
  return (body["balances"] as Record<string, unknown>[])[0]?.["balance"];
}

const dialog = (page: Page) => page.getByRole("dialog");

test("entering a reference used for the wrong customer offers to move the payment's credits", async () => {
  const managed = await setupWrongCustomer();
  const page = await signIn(managed.service.url, `${CUSTOMERS}/bob`);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).fill("500");
  await page.getByLabel("Kind").selectOption("Purchase");
  await page.getByLabel("Reference").fill("pi_77");
  await page.getByText("Reference already used for another customer").waitFor();
  expect(await dialog(page).getByRole("link", { name: "Ada Films" }).getAttribute("href")).toContain(
    "/customers/ada/grants?grant=2",
  );
  expect(await page.getByRole("button", { name: "Add 500 credits in test" }).isDisabled()).toBe(true);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Move these credits here" }).click();
  const preview = page.getByRole("status", { name: "Preview" });
  await preview.getByText("380 → 0").waitFor();
  await preview.getByText("100 → 480").waitFor();
  await preview.getByText("120 credits already spent").waitFor();
  await preview.getByText("pi_77-moved").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Move 380 credits in test" }).dblclick();
  await page.getByText("Moved 380 credits to Bob Studio").waitFor();
  await page.getByText("Ada Films 380 → 0, Bob Studio 100 → 480. 120 spent credits did not move").waitFor();
  expect([await balanceOf(managed, "ada"), await balanceOf(managed, "bob")]).toEqual([0, 480]);

  // Each customer's ledger links to the other customer.
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByText("moved from").getByRole("link", { name: "Ada Films" }).click();
  await page.waitForURL("**/customers/ada/grants?grant=2");
  await page
    .getByRole("row", { name: /grant 2/ })
    .getByText("Moved", { exact: true })
    .waitFor();
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByText("moved to").getByRole("link", { name: "Bob Studio" }).waitFor();
  await page.goto(`${managed.service.url}/workspace/audit?projectId=1&environment=test`);
  await page
    .getByText(/moved 380 credits from Ada Films to Bob Studio/)
    .first()
    .waitFor();
});

test("a grant can be moved with the keyboard to a customer found by name or ID", async () => {
  const managed = await setupWrongCustomer();
  const page = await signIn(managed.service.url, `${CUSTOMERS}/ada/grants`, { scheme: "dark" });
  await tabTo(page, page.getByRole("button", { name: "Move grant 2 to another customer" }));
  await page.keyboard.press("Enter");
  const customer = dialog(page).getByRole("combobox", { name: "Customer" });
  await expect.poll(() => customer.evaluate((box) => box === document.activeElement)).toBe(true);
  const retype = async (text: string): Promise<void> => {
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
  };
  await retype("nobody");
  await page.getByText("No customer found.").waitFor();
  // Escape closes the list, not the dialog.
  await page.keyboard.press("Escape");
  await page.getByText("No customer found.").waitFor({ state: "detached" });
  // No preview is shown until a customer is chosen.
  await page.getByText("Choose a customer to see a preview.").waitFor();
  expect(await page.getByRole("button", { name: "Move credits in test" }).isDisabled()).toBe(true);
  await retype("ada");
  await page.getByRole("option", { name: /Ada Films/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Choose another customer.").waitFor();
  await retype("studio");
  await page.getByRole("option", { name: /Bob Studio/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  expect(await customer.inputValue()).toBe("Bob Studio");
  await page.getByText("100 → 480").waitFor();
  // Enter chooses the best match for the typed text, even if the search results are not shown yet.
  await retype("ada");
  await page.keyboard.press("Enter");
  await page.getByText("Choose another customer.").waitFor();
  await retype("bob");
  await page.keyboard.press("Enter");
  await page.getByText("100 → 480").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByText("Moved 380 credits to Bob Studio").waitFor();
  await expect.poll(() => page.getByRole("button", { name: /Move grant/ }).count()).toBe(0);
  expect([await balanceOf(managed, "ada"), await balanceOf(managed, "bob")]).toEqual([0, 480]);
});

test("a fully spent grant cannot be moved, and the dialog explains why", async () => {
  const managed = await setupWrongCustomer();
  await managed.consume({ customerId: "ada", feature: "image.render", quantity: 38, idempotencyKey: "rest" });
  const page = await signIn(managed.service.url, `${CUSTOMERS}/bob`);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).fill("500");
  await page.getByLabel("Kind").selectOption("Purchase");
  await page.getByLabel("Reference").fill("pi_77");
  await page.getByRole("button", { name: "Move these credits here" }).click();
  await page.getByText("All credits of this grant are spent.").waitFor();
  expect(await page.getByRole("button", { name: "Move credits in test" }).isDisabled()).toBe(true);
});

test("adding 500 goodwill credits for 30 days takes three clicks and one number, and can be undone", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, `${CUSTOMERS}/ada`);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).waitFor();
  await page.keyboard.type("500");
  await page.getByRole("button", { name: "30 days" }).click();
  await page.getByRole("button", { name: "Add 500 credits in test" }).click();
  await page.getByText("Balance 100 → 600").waitFor();
  const grants = async () =>
    (await managed.manage("GET", "customers/ada/grants")).body["items"] as Record<string, unknown>[];
  const [grant] = await grants();
  expect(grant).toMatchObject({ kind: "manual", credits: 500 });
  const days = (Date.parse(String(grant?.["expiresAt"])) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29.9);
  expect(days).toBeLessThan(30.1);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Revoked 500 credits").waitFor();
  expect(await balanceOf(managed, "ada")).toBe(100);
});

test("500 goodwill credits for 30 days can be added with the keyboard", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, `${CUSTOMERS}/ada`, { scheme: "dark" });
  await tabTo(page, page.getByRole("button", { name: "Add credits", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByLabel("Credits", { exact: true }).waitFor();
  await page.keyboard.type("500");
  await tabTo(page, page.getByRole("button", { name: "30 days" }));
  await page.keyboard.press("Space");
  await expectAccessible(page);
  await tabTo(page, page.getByRole("button", { name: "Add 500 credits in test" }));
  await page.keyboard.press("Enter");
  await page.getByText("Balance 100 → 600").waitFor();
  expect(await balanceOf(managed, "ada")).toBe(600);
});

test("adding credits cannot be undone after some are spent, and a payment has no Undo", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, `${CUSTOMERS}/ada`);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).fill("50");
  await page.getByRole("button", { name: "Add 50 credits in test" }).click();
  await page.getByText("Balance 100 → 150").waitFor();
  await managed.consume({ customerId: "ada", feature: "image.render", quantity: 12, idempotencyKey: "k" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Some of these credits are no longer available.").waitFor();
  expect(await balanceOf(managed, "ada")).toBe(30);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByLabel("Credits", { exact: true }).fill("70");
  await page.getByLabel("Kind").selectOption("Purchase");
  await page.getByLabel("Reference").fill("pi_1");
  await page.getByRole("button", { name: "Add 70 credits in test" }).click();
  await page.getByText("Added 70 credits to ada").waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
});
