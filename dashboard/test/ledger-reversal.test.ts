import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";

const LEDGER = "/projects/1/test/customers/ada/ledger";

const rowOf = (page: Page, text: string | RegExp) => page.getByRole("row").filter({ hasText: text });

async function charge({ consume }: Managed, key: string, quantity: number): Promise<void> {
  const body = { customerId: "ada", feature: "image.render", quantity, idempotencyKey: key };
  expect((await consume(body)).body).toMatchObject({ allowed: true });
}

async function balanceOf({ manage }: Managed): Promise<unknown> {
  return (await manage("GET", "customers/ada")).body["balances"];
}

test("a possible duplicate charge is marked, and can be reversed only once", async () => {
  const setup = await setupManage();
  await charge(setup, "render-7f3a/1", 3);
  await charge(setup, "render-7f3a/2", 3);
  const page = await signIn(setup.service.url, LEDGER);
  const twin = rowOf(page, "Possible duplicate");
  await twin.waitFor();
  expect(await twin.count()).toBe(1);
  expect(await twin.textContent()).toContain("render-7f3a/2");
  await expectAccessible(page);

  await twin.getByRole("button", { name: /^Reverse/ }).click();
  const dialog = page.getByRole("dialog", { name: "Reverse charge" });
  await dialog.getByText("Plan credits (grant 1)").waitFor();
  await dialog.getByText("70", { exact: false }).first().waitFor();
  await expectAccessible(page);
  await dialog.getByLabel("Reason").fill("Retried with a new key");
  await dialog.getByRole("button", { name: "Reverse 30 credits in test" }).click();
  await page.getByText("30 credits returned. Balance 70").waitFor();
  // The success message does not block keyboard shortcuts.
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await balanceOf(setup)).toEqual([{ pool: "credits", balance: 70, held: 0, overage: null }]);

  const reversed = rowOf(page, "render-7f3a/2");
  await reversed.getByRole("link", { name: "Reversed" }).waitFor();
  await expect.poll(() => reversed.getByRole("button", { name: /^Reverse/ }).count()).toBe(0);
  await expect.poll(() => rowOf(page, "Possible duplicate").count()).toBe(0);

  await reversed.getByRole("link", { name: "Reversed" }).click();
  const reversal = rowOf(page, "of a charge");
  await reversal.and(page.locator("[aria-current]")).waitFor();
  expect(await reversal.textContent()).toContain("+30");
  expect(await reversal.textContent()).toContain("Olga Owner");
  await reversal.getByRole("button", { name: /^Details of entry/ }).click();
  await page.getByText("Retried with a new key").waitFor();
  await reversal.getByRole("link", { name: "of a charge" }).click();
  await rowOf(page, "render-7f3a/2").and(page.locator("[aria-current]")).waitFor();
});

test("a charge can be reversed in two parts with the keyboard", async () => {
  const setup = await setupManage();
  await charge(setup, "render-1", 3);
  const page = await signIn(setup.service.url, LEDGER, { scheme: "dark" });
  await rowOf(page, "render-1").getByRole("button", { name: "Reverse entry 2" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Reason").waitFor();
  await waitForFocus(page, "Reason");
  await page.keyboard.press("Shift+Tab");
  expect(await focusedName(page)).toBe("Quantity to reverse");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("4");
  await page.getByText("Enter a whole number from 1 to 3.").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  expect(await balanceOf(setup)).toEqual([{ pool: "credits", balance: 70, held: 0, overage: null }]);

  await page.keyboard.press("Control+a");
  await page.keyboard.type("1");
  await page.getByRole("button", { name: "Reverse 10 credits in test" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("10 credits returned. Balance 80").waitFor();
  await rowOf(page, "render-1").getByRole("link", { name: "1 of 3 reversed" }).waitFor();

  await waitForFocus(page, "Reverse entry 2");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Reverse 20 credits in test" }).waitFor();
  await waitForFocus(page, "Reason");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Reverse charge" }).waitFor({ state: "detached" });
  expect(await balanceOf(setup)).toEqual([{ pool: "credits", balance: 80, held: 0, overage: null }]);

  await page.keyboard.press("Enter");
  await waitForFocus(page, "Reason");
  await page.keyboard.press("Enter");
  await page.getByText("20 credits returned. Balance 100").waitFor();
  await rowOf(page, "render-1").getByRole("link", { name: "Reversed", exact: true }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: /^Reverse/ }).count()).toBe(0);
});

test("a charge that someone else reversed cannot be reversed again, and the ledger refreshes", async () => {
  const setup = await setupManage();
  await charge(setup, "render-1", 2);
  const page = await signIn(setup.service.url, LEDGER);
  await page.getByRole("button", { name: "Reverse entry 2" }).click();
  await page.getByLabel("Reason").waitFor();
  const ledger = (await setup.manage("GET", "customers/ada/ledger")).body["items"];
  const [{ consumeId }] = ledger as [{ consumeId: string }];
  await setup.manage("POST", `customers/ada/consumes/${consumeId}/reverse`, { body: {} });
  await page.getByRole("button", { name: "Reverse 20 credits in test" }).click();
  await page.getByRole("alert").getByText("This charge is already fully reversed").waitFor();
  await page.keyboard.press("Escape");
  await rowOf(page, "render-1").getByText("Reversed").waitFor();
  expect(await balanceOf(setup)).toEqual([{ pool: "credits", balance: 100, held: 0, overage: null }]);
});

test("the curl call shown in the Reverse charge dialog reverses the charge", async () => {
  const setup = await setupManage();
  await charge(setup, "render-1", 2);
  const page = await signIn(setup.service.url, LEDGER);
  await page.getByRole("button", { name: "Reverse entry 2" }).click();
  await page.getByLabel("Quantity to reverse").fill("1");
  await page.getByLabel("Reason").fill("It's late");
  await page.getByRole("button", { name: "API call" }).click();
  const curl = (await page.getByRole("region", { name: "the call" }).textContent()) ?? "";
  const [, url = ""] = curl.match(/'(http[^']+)'/) ?? [];
  const [, quoted = ""] = curl.match(/-d '(.+)'$/s) ?? [];
  const body: unknown = JSON.parse(quoted.replaceAll(`'\\''`, "'"));
  expect(body).toMatchObject({ quantity: 1, note: "It's late" });
  const path = new URL(url).pathname;
  expect((await setup.manage("POST", path, { body })).body).toMatchObject({
    outcome: "reversed",
    credits: 10,
  });
  expect((await setup.manage("POST", path, { body })).body).toMatchObject({ outcome: "already_reversed" });
});

test("a viewer can read the ledger and grants but cannot change them", async () => {
  const setup = await setupManage();
  await charge(setup, "render-1", 2);
  const credentials = await addMember(setup.service.url, setup.tokens.owner, "viewer");
  const page = await signIn(setup.service.url, LEDGER, { credentials });
  await rowOf(page, "render-1").waitFor();
  expect(await page.getByRole("button", { name: /Reverse/ }).count()).toBe(0);
  await page.getByRole("link", { name: "Grants" }).click();
  await rowOf(page, "Used next").waitFor();
  expect(await page.getByRole("button", { name: /Revoke/ }).count()).toBe(0);
});

async function waitForFocus(page: Page, name: string): Promise<void> {
  await expect.poll(() => focusedName(page)).toBe(name);
}

function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    const label = focused instanceof HTMLInputElement ? focused.labels?.[0] : null;
    return (label ?? focused)?.textContent?.trim() ?? "";
  });
}
