import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, signIn } from "./browser.ts";

const PATH = "/workspace/tokens";

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** Parses a curl call shown on the page and sends its request. */
async function callAsShown(curl: string, secret: string | null = null): Promise<Response> {
  const words = curl.replaceAll("\\\n", " ");
  const [, url = ""] = words.match(/'(http[^']*)'/) ?? [];
  const [, method = "GET"] = words.match(/-X (\w+)/) ?? [];
  const [, body = null] = words.match(/-d '(.*)'$/s) ?? [];
  const headers = [...words.matchAll(/-H ['"]([\w-]+): ([^'"]+)['"]/g)].map(([, name = "", value = ""]) => [
    name,
    secret === null ? value : value.replace("$PURSER_TOKEN", secret),
  ]);
  return fetch(url, { method, headers: Object.fromEntries(headers), body });
}

test("a management token can be created with the keyboard, is shown once, and works until it is revoked", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Create token" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Create management token" }).waitFor();
  await page.keyboard.type("Billing webhook");
  await page.keyboard.press("Tab");
  // The default scope is Test in the first project. The next option is Live.
  await page.keyboard.press("ArrowDown");
  await page.getByRole("button", { name: "Create token in Live" }).waitFor();
  await page.getByLabel("Name").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Token Billing webhook" }).waitFor();
  const secret = (await page.getByRole("region", { name: "the token" }).textContent()) ?? "";
  const curl = (await page.getByRole("region", { name: "the call" }).textContent()) ?? "";
  expect(secret).toMatch(/^pur_mgmt_/);
  const reply = await callAsShown(curl);
  expect([reply.status, await reply.json()]).toMatchObject([
    200,
    { kind: "token", name: "Billing webhook", role: "operator" },
  ]);
  await page.mouse.click(5, 5);
  await page.getByRole("dialog", { name: "Token Billing webhook" }).waitFor();
  await page.getByRole("button", { name: "I have stored it" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(await page.content()).not.toContain(secret);

  await page.reload();
  await expect.poll(() => row(page, "Billing webhook").textContent()).toContain("Live");
  expect(await row(page, "Billing webhook").textContent()).not.toContain("Never used");
  const { body } = await manage("GET", "/manage/v1/tokens");
  const [stored] = body["items"] as Record<string, unknown>[];
  expect(stored).toMatchObject({ environment: "live", projectId: "1", role: "operator" });
  expect(Date.parse(String(stored?.["expiresAt"]))).toBeGreaterThan(Date.now() + 364 * 86_400_000);

  await page.getByRole("button", { name: "Actions for Billing webhook" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Revoke" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel('Type "Billing webhook" to confirm').waitFor();
  await page.keyboard.type("Billing webhook");
  await page.keyboard.press("Enter");
  await row(page, "Billing webhook").getByText("Revoked").waitFor();
  expect((await callAsShown(curl)).status).toBe(401);
  expect(await page.getByRole("button", { name: "Actions for Billing webhook" }).count()).toBe(0);
});

test("the curl call shown in the token form creates the token described by the form", async () => {
  const { service, tokens, manage } = await setupManage();
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByLabel("Name").fill("It's the CI");
  await page.getByLabel("Scope").selectOption("Whole workspace");
  await page.getByRole("radio", { name: "Admin" }).check();
  await page.getByLabel("Expires").selectOption("Never");
  await page.getByRole("button", { name: "API call" }).click();
  const curl = (await page.getByRole("region", { name: "the call" }).textContent()) ?? "";
  expect(curl).toContain("It'\\''s the CI");
  const reply = await callAsShown(curl.replace("It'\\''s", "Its"), tokens.owner);
  expect(reply.status).toBe(200);
  const { body } = await manage("GET", "/manage/v1/tokens");
  expect((body["items"] as unknown[])[0]).toMatchObject({
    name: "Its the CI",
    role: "admin",
    projectId: null,
    expiresAt: null,
  });
});

test("a token for one environment cannot have the owner role, and an expiry in the past is rejected", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByLabel("Scope").selectOption("Whole workspace");
  await page.getByRole("radio", { name: "Owner" }).check();
  await page.getByRole("button", { name: "Create token for the workspace" }).waitFor();
  await page.getByLabel("Scope").selectOption({ index: 0 });
  expect(await page.getByRole("radio", { name: "Owner" }).count()).toBe(0);
  expect(await page.getByRole("radio", { name: "Admin" }).isChecked()).toBe(true);
  await page.getByLabel("Name").fill("Yesterday's");
  await page.getByLabel("Expires").selectOption("On a specific date");
  await page.getByLabel("Last day (UTC)").fill("2020-01-01");
  // Disable browser validation.
  await page.evaluate(() => document.querySelector("form")?.setAttribute("novalidate", ""));
  await page.getByRole("button", { name: "Create token in test" }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").textContent()).toContain("must be in the future");
});

test("a token can manage members and tokens only if that option is selected, and the list shows the permission", async () => {
  const { service, manage } = await setupManage();
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Create token" }).click();
  const choice = page.getByRole("checkbox", { name: "Manage members and tokens" });
  await page.getByLabel("Name").fill("Onboarding");
  await page.getByRole("radio", { name: "Admin" }).check();
  expect(await choice.count()).toBe(0);
  await page.getByLabel("Scope").selectOption("Whole workspace");
  expect(await choice.isChecked()).toBe(false);
  await choice.check();
  await page.getByRole("radio", { name: "Operator" }).check();
  expect(await choice.count()).toBe(0);
  await page.getByRole("radio", { name: "Admin" }).check();
  expect(await choice.isChecked()).toBe(true);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create token for the workspace" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await row(page, "Onboarding").getByText("Manages access").waitFor();
  await row(page, "Onboarding").getByText("by Olga Owner").waitFor();
  const { body } = await manage("GET", "/manage/v1/tokens");
  expect((body["items"] as object[])[0]).toMatchObject({
    managesAccess: true,
    createdBy: { name: "Olga Owner" },
  });
  await page.getByRole("button", { name: "Actions for Onboarding" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page
    .getByText("This also revokes tokens, invitations and reset links created with this token.")
    .waitFor();
});

test("a viewer sees the tokens but no actions", async () => {
  const { service, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "viewer");
  const page = await signIn(service.url, PATH, { credentials });
  await row(page, "The owner's").waitFor();
  expect(await page.getByRole("button", { name: /Create token|Actions for/ }).count()).toBe(0);
});

test.each(["light", "dark"] as const)("the tokens page and dialogs are accessible (%s)", async (scheme) => {
  const { service } = await setupManage();
  const page = await signIn(service.url, PATH, { scheme });
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByLabel("Name").fill("Billing webhook");
  await page.getByRole("button", { name: "API call" }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create token in test" }).click();
  await page.getByRole("dialog", { name: "Token Billing webhook" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Actions for Billing webhook" }).click();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await expectAccessible(page);
});
