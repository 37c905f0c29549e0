import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const CUSTOMER = "/projects/1/test/customers/ada";
const PAYMENT = "pi_3MtwBwLkdIwHu7ix28a3tqPa";
const PURCHASE = {
  credits: 500,
  kind: "purchase",
  reference: PAYMENT,
  price: { amount: 4900, currency: "eur" },
  note: "Bought in the shop",
};

const rowOf = (page: Page, text: string | RegExp) => page.getByRole("row").filter({ hasText: text });

test("searching for a payment reference opens and marks its grant, and the reference can be copied", async () => {
  const { service, manage } = await setupManage();
  expect((await manage("POST", "customers/ada/credits", { body: PURCHASE })).status).toBe(200);
  await manage("POST", "customers/ada/credits", { body: { credits: 5, kind: "manual" } });
  await manage("PUT", "customers/ada", { body: { name: "Ada Films" } });
  const page = await signIn(service.url, "/projects/1/live");
  await page.evaluate((text) => navigator.clipboard.writeText(text), PAYMENT);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.press("Control+v");
  await page.getByRole("option", { name: /^500 credits for Ada Films.*ada/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/1/test/customers/ada/grants?grant=2");
  const row = rowOf(page, PAYMENT);
  await row.and(page.locator("[aria-current]")).waitFor();
  expect(await page.locator("tr[aria-current]").count()).toBe(1);
  const text = (await row.textContent()) ?? "";
  for (const part of ["Purchase", "grant 2", "€49.00", "by The owner's", "500", "Open"]) {
    expect(text).toContain(part);
  }
  await row.getByRole("button", { name: "Details of grant 2" }).click();
  await page.getByText("Bought in the shop").waitFor();
  await expectAccessible(page);

  await page.evaluate(() => navigator.clipboard.writeText("nothing"));
  await row.getByRole("button", { name: `Copy ${PAYMENT}` }).click();
  await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, PAYMENT);
  await page.reload();
  await rowOf(page, PAYMENT).and(page.locator("[aria-current]")).waitFor();
});

test("a grant can be revoked with the keyboard, and credits already spent are not affected", async () => {
  const { service, manage, consume } = await setupManage();
  await manage("POST", "customers/ada/credits", { body: PURCHASE });
  await consume({ customerId: "ada", feature: "image.render", quantity: 12, idempotencyKey: "k1" });
  const page = await signIn(service.url, `${CUSTOMER}/grants`, { scheme: "dark" });
  await rowOf(page, "Plan credits").getByText("Spent", { exact: true }).waitFor();
  await rowOf(page, PAYMENT).getByText("Used next").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke grant 2" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Revoke grant" });
  await dialog.getByText("The 20 credits already spent are not affected.").waitFor();
  await expectAccessible(page);
  await dialog.getByLabel("Reason").fill("Paid by mistake");
  const confirm = dialog.getByRole("button", { name: "Revoke 480 credits in test" });
  while (!(await confirm.evaluate((button) => button === document.activeElement))) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByText("Balance 480 → 0").waitFor();
  await rowOf(page, PAYMENT).getByText("Revoked", { exact: true }).waitFor();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => page.getByRole("button", { name: /^Revoke/ }).count()).toBe(0);
  const { body } = await manage("GET", "customers/ada/grants");
  expect(body["items"]).toMatchObject([{ remaining: 0, revokedAt: expect.any(String) }, {}]);

  await page.getByRole("link", { name: "Ledger" }).click();
  const entry = rowOf(page, "−480");
  await entry.waitFor();
  expect(await entry.textContent()).toMatch(/Revocation.*Purchase.*Olga Owner/);
  await entry.getByRole("button", { name: /Details/ }).click();
  await page.getByText("Paid by mistake").waitFor();
});

test("a grant moved while the Revoke dialog is open is not revoked, and the dialog links to its new owner", async () => {
  const { service, manage } = await setupManage();
  await manage("POST", "customers/ada/credits", { body: PURCHASE });
  await manage("PUT", "customers/bob", { body: { name: "Bob Films" } });
  const page = await signIn(service.url, `${CUSTOMER}/grants`);
  await page.getByRole("button", { name: "Revoke grant 2" }).click();
  const dialog = page.getByRole("dialog", { name: "Revoke grant" });
  await dialog.getByRole("button", { name: "Revoke 500 credits in test" }).waitFor();
  await manage("POST", "customers/ada/grants/2/move", { body: { to: "bob" } });
  await dialog.getByRole("button", { name: "Revoke 500 credits in test" }).click();
  await dialog.getByText("Nothing to revoke").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("link", { name: "Bob Films" }).click();
  await page.waitForURL("**/customers/bob/grants?grant=1");
});

test("equal top-ups within minutes are marked as possible duplicates until one is revoked", async () => {
  const { service, manage } = await setupManage();
  const body = { credits: 50, kind: "manual" };
  await manage("POST", "customers/ada/credits", { body });
  await manage("POST", "customers/ada/credits", { body });
  const page = await signIn(service.url, `${CUSTOMER}/ledger`);
  await rowOf(page, "Possible duplicate").waitFor();
  expect(await rowOf(page, "Top-up").count()).toBe(2);
  expect(await rowOf(page, "Possible duplicate").textContent()).toContain("The owner's");
  await manage("POST", "customers/ada/grants/3/revoke");
  await page.reload();
  await rowOf(page, "Revocation").waitFor();
  await expect.poll(() => rowOf(page, "Possible duplicate").count()).toBe(0);
});

test("a new customer's empty tabs explain why they are empty", async () => {
  const { service, manage } = await setupManage();
  await manage("PUT", "customers/grace", { body: { name: "Grace" } });
  for (const scheme of ["light", "dark"] as const) {
    const page = await signIn(service.url, "/projects/1/test/customers/grace/grants", { scheme });
    await page.getByText("No grants yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Ledger" }).click();
    await page.getByText("No entries yet").waitFor();
    await page.getByRole("link", { name: "Plan history" }).click();
    await page.getByText("No plan yet").waitFor();
    await page.getByRole("link", { name: "Requests" }).last().click();
    await page.getByText("No requests yet").waitFor();
    await expectAccessible(page);
  }
});

test("a grant's actions stay visible when the table is wider than the window", async () => {
  const { service, manage } = await setupManage();
  await manage("POST", "customers/ada/credits", { body: PURCHASE });
  const page = await signIn(service.url, `${CUSTOMER}/grants`, { width: 1024 });
  const table = page.getByRole("region", { name: "Grants" });
  const revoke = table.getByRole("button", { name: "Revoke grant 2" });
  await revoke.waitFor();
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(true);
  const rightOf = async () => {
    const box = await revoke.boundingBox();
    return (box?.x ?? 0) + (box?.width ?? Number.POSITIVE_INFINITY);
  };
  expect(await rightOf()).toBeLessThan(1024);
  await table.evaluate((region) => region.scrollTo({ left: region.scrollWidth }));
  expect(await rightOf()).toBeLessThan(1024);
  await expectAccessible(page);
});
