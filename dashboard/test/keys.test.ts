import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { post } from "../../service/test/harness.ts";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const KEYS = "/projects/1/test/api-keys";

const rowsOf = (page: Page) => page.getByRole("region", { name: "API keys" }).locator("tbody tr");

async function readSecret(page: Page): Promise<string> {
  return (await page.getByRole("region", { name: "the key" }).textContent()) ?? "";
}

/** Calls /v1/check repeatedly with the current key, as a backend would. */
function keepCalling({ service }: Managed, first: string) {
  const caller = { key: first, statuses: [] as number[], isOver: false };
  const running = (async () => {
    while (!caller.isOver) {
      const reply = await post(`${service.url}/v1/check`, caller.key, {
        customerId: "ada",
        feature: "export",
      });
      caller.statuses.push(reply.status);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  onTestFinished(async () => {
    caller.isOver = true;
    await running;
  });
  return caller;
}

test("a new API key is shown once with a working example call, and listed without its secret", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, KEYS);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("Image rendering");
  expect(await page.getByLabel("reverse").isChecked()).toBe(false);
  await page.getByLabel("events").uncheck();
  await page.getByRole("button", { name: "API call" }).click();
  await page.getByText(`"scopes":["check","consume"]`).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create key in test" }).click();
  await page.getByText("Copy the secret now").waitFor();
  await expectAccessible(page);
  const secret = await readSecret(page);
  expect(secret).toMatch(/^pur_test_[A-Za-z0-9]{38}$/);
  await page.getByRole("button", { name: "Copy the key" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  const call = (await page.getByRole("region", { name: "the call" }).textContent()) ?? "";
  const { stdout } = await promisify(execFile)("sh", ["-c", call.replace("curl", "curl -s")]);
  expect(JSON.parse(stdout)).toMatchObject({ allowed: false, customerId: "customer_42" });
  await page.getByRole("button", { name: "I have stored it" }).click();
  const row = rowsOf(page).first();
  await row.getByText(`pur_test_…${secret.slice(-4)}`).waitFor();
  expect(await row.textContent()).toMatch(/Image rendering.*Active.*check, consume.*by Olga Owner/);
  expect(await page.content()).not.toContain(secret);
});

test("an API key can be created, rotated and revoked with the keyboard, and a second Enter does not lose its secret", async () => {
  const managed = await setupManage();
  const page = await signIn(managed.service.url, KEYS);
  await page.getByRole("button", { name: "Create key" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Create API key" }).waitFor();
  await page.keyboard.type("Typed");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "API key Typed" }).waitFor();
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await readSecret(page));
  // Escape does not close the dialog, so the secret is not lost.
  await page.keyboard.press("Escape");
  await tabTo(page, page.getByRole("button", { name: "I have stored it" }));
  await page.keyboard.press("Enter");
  const menus = page.getByRole("button", { name: /Actions for Typed/ });
  await menus.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Rotate" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Rotate Typed" }).waitFor();
  // Nothing is sent until the user answers whether the key was leaked.
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("radio", { name: "Yes, or possibly" }));
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "API key Typed" }).waitFor();
  await page.getByText(/The old key pur_test_….{4} expires now/).waitFor();
  await tabTo(page, page.getByRole("button", { name: "I have stored it" }));
  await page.keyboard.press("Enter");
  // The old key has already expired, so it has no actions.
  await rowsOf(page).filter({ hasText: "Typed" }).nth(1).getByText("Expired").waitFor();
  expect(await menus.count()).toBe(1);
  await menus.first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Revoke" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Revoke Typed" }).waitFor();
  await page.keyboard.type("Type");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("dialog").count()).toBe(1);
  await page.keyboard.type("d");
  await page.keyboard.press("Enter");
  await rowsOf(page).first().getByText("Revoked").waitFor();
  await page.getByText(/will be rejected within 5 seconds\.$/).waitFor();
});

test("no call fails while an API key is rotated, and calls with the revoked key fail", async () => {
  const managed = await setupManage();
  const old = managed.project.test.key.secret;
  const page = await signIn(managed.service.url, KEYS);
  const caller = keepCalling(managed, old);
  await page.getByRole("button", { name: /Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Rotate" }).click();
  expect(await page.getByRole("button", { name: "Rotate key in test" }).isDisabled()).toBe(true);
  await page.getByRole("radio", { name: "No", exact: true }).check();
  await page.getByLabel("Old key expires").selectOption("In 1 hour");
  await page.getByText(/^The old key works until \d.*\.$/).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Rotate key in test" }).click();
  await page.getByText(/^The old key pur_test_….{4} expires \d/).waitFor();
  const successor = await readSecret(page);
  expect(successor).not.toBe(old);
  const before = caller.statuses.length;
  await expect.poll(() => caller.statuses.length).toBeGreaterThan(before + 5);
  caller.key = successor;
  await expect.poll(() => caller.statuses.length).toBeGreaterThan(before + 20);
  expect(new Set(caller.statuses)).toEqual(new Set([200]));
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText(/The key ending in .{4} replaces it/).waitFor();
  await rowsOf(page).nth(1).getByText("Expires soon").waitFor();
  await expectAccessible(page);

  await rowsOf(page)
    .nth(1)
    .getByRole("button", { name: /Actions for/ })
    .click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByLabel('Type "Test key" to confirm').fill("Test key");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke key in test" }).click();
  await rowsOf(page).nth(1).getByText("Revoked").waitFor();
  const check = { customerId: "ada", feature: "export" };
  const statusWith = async (key: string) =>
    (await post(`${managed.service.url}/v1/check`, key, check)).status;
  await expect.poll(() => statusWith(old), { timeout: 7_000 }).toBe(401);
  expect(await statusWith(successor)).toBe(200);
  expect(new Set(caller.statuses)).toEqual(new Set([200]));
});

test("an expiring API key shows a warning, and an operator sees no actions for API keys", async () => {
  const managed = await setupManage();
  const { manage, service, tokens } = managed;
  const expiresAt = new Date(Date.now() + 3 * 86_400_000).toISOString();
  await manage("POST", "api-keys", { body: { name: "Nightly import", scopes: ["events"], expiresAt } });
  const page = await signIn(service.url, KEYS, { scheme: "dark" });
  await page.getByText("The key has no replacement yet.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog", { name: "Rotate Nightly import" }).waitFor();
  await expectAccessible(page);
  const credentials = await addMember(service.url, tokens.owner, "operator");
  const watcher = await signIn(service.url, KEYS, { credentials });
  await watcher.getByText("The key has no replacement yet.").waitFor();
  for (const name of [/Rotate/, /Create key/, /Actions for/])
    expect(await watcher.getByRole("button", { name }).count()).toBe(0);
});
