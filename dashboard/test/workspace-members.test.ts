import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Managed, send, setupManage } from "../../service/test/manage.ts";
import { join } from "../../service/test/members.ts";
import { expectAccessible } from "./axe.ts";
import { addMember, openWindow, signIn } from "./browser.ts";
import { tabTo } from "./tab-to.ts";

const PATH = "/workspace/members";

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

async function act(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

async function memberNamed({ manage }: Managed, name: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await manage("GET", "/manage/v1/members");
  return (body["items"] as Record<string, unknown>[]).find((member) => member["name"] === name);
}

test("an invitation link can be created with the keyboard and grants the selected role", async () => {
  const managed = await setupManage();
  const { service } = managed;
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Invite member" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Invite member" }).waitFor();
  await page.keyboard.type("Vera Viewer");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Vera@example.com");
  // Keeps the whole workspace, the default.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  // Selects operator instead of viewer, the default.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const made = page.getByRole("dialog", { name: "Invitation for Vera Viewer" });
  await made.waitFor();
  await expect.poll(() => made.textContent()).toContain("vera@example.com, as an operator");
  expect(await made.textContent()).toContain("Purser does not send email");
  await made.getByRole("button", { name: "Copy the link" }).focus();
  await page.keyboard.press("Enter");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(new RegExp(`^${service.url}/join#pur_link_`));
  const mail = new URL(
    (await made.getByRole("link", { name: "Open in email app" }).getAttribute("href")) ?? "",
  );
  expect([mail.protocol, decodeURIComponent(mail.pathname)]).toEqual(["mailto:", "vera@example.com"]);
  expect(mail.searchParams.get("subject")).toBe("Invitation to Purser");
  expect(mail.searchParams.get("body")).toContain(`\r\n${link}`);
  await tabTo(page, page.getByRole("button", { name: "Done" }));
  await page.keyboard.press("Enter");
  await row(page, "Vera Viewer").getByText("Invited").waitFor();
  expect(await memberNamed(managed, "Vera Viewer")).toMatchObject({ role: "operator", status: "invited" });

  const hers = await openWindow(service.url);
  await hers.goto(link);
  await hers.keyboard.type("nine-blue-lanterns");
  await hers.keyboard.press("Enter");
  await hers.waitForURL(/\/projects\/1\/test/);
  await hers.goto(PATH);
  await row(hers, "Vera Viewer").getByText("You").waitFor();
  await expect.poll(() => row(hers, "Vera Viewer").getByText("Invited").count()).toBe(0);
  await expect.poll(() => hers.getByRole("button", { name: /Invite|Actions for/ }).count()).toBe(0);
});

test("the invitation form reports a duplicate email and keeps the input", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Invite member" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Another Olga");
  await dialog.getByLabel("Email").fill("owner@example.com");
  await dialog.getByRole("button", { name: "Create invitation link" }).click();
  await dialog.getByRole("alert").waitFor();
  expect(await dialog.getByRole("alert").textContent()).toContain("A member with this email already exists");
  expect(await dialog.getByLabel("Name").inputValue()).toBe("Another Olga");
});

test("a password reset link sets a new password", async () => {
  const managed = await setupManage();
  const { service } = managed;
  const ben = await join(managed, "operator", "ben");
  const page = await signIn(service.url, PATH);
  await act(page, "ben", "Create password reset link");
  await page.getByRole("button", { name: "Create password reset link" }).click();
  const shown = await page.getByRole("region", { name: "the link" }).textContent();
  const his = await openWindow(service.url);
  await his.goto(shown ?? "");
  await his.getByLabel("Password").fill("ten-red-umbrellas");
  await his.keyboard.press("Enter");
  await his.waitForURL(/\/projects\/1\/test/);
  const again = await signIn(service.url, "/", {
    credentials: { email: ben.email, password: "ten-red-umbrellas" },
  });
  await again.getByRole("button", { name: /ben/ }).waitFor();
});

test("demoting a member shows what is revoked and takes effect immediately", async () => {
  const managed = await setupManage();
  const { service, tokens } = managed;
  const credentials = await addMember(service.url, tokens.owner, "admin");
  const theirs = await signIn(service.url, PATH, { credentials });
  await theirs.getByRole("button", { name: "Invite member" }).waitFor();

  const page = await signIn(service.url, PATH);
  await page.getByRole("button", { name: "Actions for The admin" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Edit The admin" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.getByText("2 sessions").waitFor();
  await page.getByRole("button", { name: "Demote to Viewer" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Admin → Viewer").waitFor();
  expect(await memberNamed(managed, "The admin")).toMatchObject({ role: "viewer" });

  await theirs.reload();
  await theirs.waitForURL(/\/log-in/);
  const again = await signIn(service.url, PATH, { credentials });
  await row(again, "The admin").getByText("Viewer", { exact: true }).waitFor();
  await expect.poll(() => again.getByRole("button", { name: /Invite|Actions for/ }).count()).toBe(0);
});

test("removing an admin lists the access that is revoked, and revokes only the selected API keys", async () => {
  const managed = await setupManage();
  const { service, manage } = managed;
  const adam = await join(managed, "admin", "adam");
  const token = await adam.call("POST", "/manage/v1/tokens", {
    name: "Deploys",
    role: "admin",
    managesAccess: true,
  });
  const secret = String(token.body["secret"]);
  const invited = { email: "eve@example.com", name: "Eve", role: "viewer" };
  await send(`${service.url}/manage/v1/members`, "POST", { token: secret, body: invited });
  for (const name of ["Old backend", "New backend"])
    await adam.call("POST", `${managed.here}/api-keys`, { name, scopes: ["check"] });

  const page = await signIn(service.url, PATH);
  await row(page, "Eve").getByText("Invitation created by Deploys").waitFor();
  await act(page, "adam", "Remove member");
  const dialog = page.getByRole("dialog", { name: "Remove adam" });
  const line = (text: string) => dialog.getByRole("listitem").filter({ hasText: text });
  await expect.poll(() => line("Token Deploys").textContent()).toContain("Last used");
  expect(await line("Invitation for Eve").textContent()).toContain("eve@example.com");
  expect(await line("1 session").count()).toBe(1);
  expect(await line("New backend").textContent()).toContain("Never used");
  await expectAccessible(page);
  await dialog.getByRole("checkbox", { name: "Old backend" }).check();
  await dialog.getByLabel('Type "adam@example.com" to confirm').fill("adam@example.com");
  await dialog.getByRole("button", { name: "Remove member" }).click();
  await page.getByText("Removed adam").waitFor();
  await row(page, "Eve").getByText("Invitation link expired").waitFor();
  expect((await send(`${service.url}/manage/v1/session`, "GET", { token: secret })).status).toBe(401);
  const keys = (await manage("GET", "api-keys")).body["items"] as object[];
  expect(keys.slice(0, 2)).toMatchObject([
    { name: "New backend", isValid: true },
    { name: "Old backend", isValid: false },
  ]);
});

test("the only owner cannot be removed until there is another owner", async () => {
  const managed = await setupManage();
  const { service } = managed;
  const page = await signIn(service.url, PATH);
  await row(page, "Olga Owner").getByText("The only owner").waitFor();
  await page.getByRole("button", { name: "Actions for Olga Owner" }).click();
  await page.getByText("The only owner cannot be removed").waitFor();
  expect(await page.getByRole("menuitem", { name: "Remove" }).count()).toBe(0);
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByText("The only owner cannot be demoted").waitFor();
  expect(await page.getByRole("radio").count()).toBe(0);
  await page.keyboard.press("Escape");

  await join(managed, "owner", "otto");
  await page.reload();
  await act(page, "Olga Owner", "Remove member");
  await page.getByText("You will be logged out.").waitFor();
  await page.keyboard.type("owner@example.com");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/log-in/);
  expect(await memberNamed(managed, "Olga Owner")).toBeUndefined();
});

test("removing a member requires typing the member's email and ends the member's session", async () => {
  const managed = await setupManage();
  const { service, tokens } = managed;
  const credentials = await addMember(service.url, tokens.owner, "operator");
  const theirs = await signIn(service.url, "/projects/1/test/customers", { credentials });
  const page = await signIn(service.url, PATH);
  await act(page, "The operator", "Remove member");
  const button = page.getByRole("button", { name: "Remove member" });
  await page.getByLabel('Type "operator@example.com" to confirm').fill("operator@example.co");
  expect(await button.isDisabled()).toBe(true);
  await page.getByLabel('Type "operator@example.com" to confirm').fill("operator@example.com");
  await button.click();
  await page.getByText("Removed The operator").waitFor();
  await expect.poll(() => row(page, "operator@example.com").count()).toBe(0);
  await theirs.reload();
  await theirs.getByLabel("Password").waitFor();
});

test("an admin cannot edit owners or assign a higher role", async () => {
  const { service, tokens } = await setupManage();
  const credentials = await addMember(service.url, tokens.owner, "admin");
  const page = await signIn(service.url, PATH, { credentials });
  await row(page, "Olga Owner").getByText("Only owners can edit").waitFor();
  expect(await page.getByRole("button", { name: "Actions for Olga Owner" }).count()).toBe(0);
  await page.getByRole("button", { name: "Invite member" }).click();
  expect(await page.getByRole("radio", { name: "Owner" }).isDisabled()).toBe(true);
});

test.each(["light", "dark"] as const)("the members page and dialogs are accessible (%s)", async (scheme) => {
  const managed = await setupManage();
  const { service, tokens } = managed;
  await addMember(service.url, tokens.owner, "operator");
  const page = await signIn(service.url, PATH, { scheme });
  await expectAccessible(page);
  await page.getByRole("button", { name: "Actions for The operator" }).click();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("button", { name: "API call" }).click();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await act(page, "The operator", "Create password reset link");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create password reset link" }).click();
  await page.getByRole("region", { name: "the link" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Done" }).click();
  await act(page, "The operator", "Remove");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Invite member" }).click();
  await expectAccessible(page);
});
