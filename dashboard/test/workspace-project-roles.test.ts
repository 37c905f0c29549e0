import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createTestProject } from "../../service/test/harness.ts";
import { type Managed, setupManage } from "../../service/test/manage.ts";
import { join, type WantedRole } from "../../service/test/members.ts";
import { expectAccessible } from "./axe.ts";
import { openWindow, signIn } from "./browser.ts";

const MEMBERS = "/workspace/members";

async function setup(): Promise<Managed & { here: string; other: string }> {
  const managed = await setupManage();
  const { projectId } = await createTestProject(managed.database, "Another product");
  return { ...managed, here: String(managed.project.projectId), other: String(projectId) };
}

/** Logs in as a new member with these project roles. */
async function signInWith(managed: Managed, path: string, ...roles: WantedRole[]): Promise<Page> {
  const credentials = await join(managed, null, "pia", roles);
  return signIn(managed.service.url, path, { credentials });
}

const linksOf = (page: Page): Promise<string[]> =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents();

async function expectNotFound(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByText("This page does not exist").waitFor();
  for (const text of ["Another product", "Olga", "owner@example.com"])
    expect(await page.getByText(text).count()).toBe(0);
}

test("an invited viewer of one project sees this project, and no other project, member or setting", async () => {
  const { service, here, other } = await setup();
  const page = await signIn(service.url, MEMBERS);
  await page.getByRole("button", { name: "Invite member" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite member" });
  await dialog.getByLabel("Name").fill("Pia");
  await dialog.getByLabel("Email").fill("pia@example.com");
  await dialog.getByRole("radio", { name: "Only some projects" }).check();
  await dialog.getByLabel("Project", { exact: true }).selectOption("Test product");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create invitation link" }).click();
  await page.getByText("as a member of 1 project").waitFor();
  const link = await page.getByRole("region", { name: "the link" }).textContent();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Test product: Viewer").waitFor();

  const hers = await openWindow(service.url);
  await hers.goto(link ?? "");
  await hers.getByLabel("Password").fill("nine-blue-lanterns");
  await hers.keyboard.press("Enter");
  await hers.waitForURL(`/projects/${here}/test`);
  expect(await linksOf(hers)).not.toContain("Members");
  expect(await linksOf(hers)).not.toContain("Management tokens");
  await hers.getByRole("button", { name: /^Project/ }).click();
  await hers.getByRole("menuitem", { name: "Test product" }).waitFor();
  expect(await hers.getByRole("menuitem").allTextContents()).toEqual(["Test product"]);
  await hers.goto(`/projects/${here}/live/customers`);
  await hers.getByRole("heading", { name: "Customers", exact: true }).waitFor();
  expect(await hers.getByRole("button", { name: "Create customer" }).count()).toBe(0);
  for (const path of [
    `/projects/${other}/test`,
    MEMBERS,
    "/workspace/tokens",
    "/workspace/settings/projects",
  ]) {
    await expectNotFound(hers, path);
  }
  await hers.goto("/workspace/settings");
  await hers.getByRole("heading", { name: "Your password" }).waitFor();
  await hers.getByRole("link", { name: "Profile" }).waitFor();
  expect(await hers.getByRole("link", { name: /^(Workspace|Projects|System health)$/ }).count()).toBe(0);
});

test("an operator of Test adds credits there, reads its audit log, and is not offered Live", async () => {
  const managed = await setup();
  const role = { projectId: managed.here, environment: "test", role: "operator" } as const;
  const page = await signInWith(managed, "/", role);
  await page.waitForURL(`/projects/${managed.here}/test`);
  const switches = page.getByRole("group", { name: "Environment" }).getByRole("button");
  expect(await switches.allTextContents()).toEqual(["Test"]);
  await page.goto(`/projects/${managed.here}/test/customers/ada`);
  await page.getByRole("button", { name: "Add credits" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Credits").fill("25");
  await dialog.getByRole("button", { name: /^Add 25 credits in Test/ }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.waitForURL(/\/workspace\/audit\?.*environment=test/);
  await page
    .getByText(/added 25 credits/i)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Undo…" }).first().waitFor();
  expect(await page.getByLabel("Environment").locator("option").allTextContents()).toEqual([
    "Test product (Test)",
  ]);
  expect(await page.getByRole("button", { name: "Export", exact: true }).count()).toBe(0);
  await page.goto(`/projects/${managed.here}/test/plans`);
  await page.getByRole("heading", { name: "Plans", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Promote Test to Live" }).count()).toBe(0);
  await expectNotFound(page, `/projects/${managed.here}/live/customers`);
  // The navigation leads back to the environment of the role.
  await page.getByRole("link", { name: "Customers" }).click();
  await page.waitForURL(`/projects/${managed.here}/test/customers`);
});

test("a member of Live alone opens Home without an error", async () => {
  const managed = await setup();
  const role = { projectId: managed.here, environment: "live", role: "admin" } as const;
  const page = await signInWith(managed, "/", role);
  await page.waitForURL(`/projects/${managed.here}/live`);
  await page.getByText("Someone with access to Test can promote the catalog.").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.goto(`/projects/${managed.here}/live/api-keys`);
  await page.getByRole("button", { name: "Create key" }).first().waitFor();
});

test("a workspace viewer has the buttons of an operator only in the project of that role", async () => {
  const managed = await setup();
  const roles = [{ projectId: managed.here, environment: null, role: "operator" }] as const;
  const credentials = await join(managed, "viewer", "vera", roles);
  const page = await signIn(managed.service.url, `/projects/${managed.here}/test/customers`, { credentials });
  await page.getByRole("button", { name: "Create customer" }).waitFor();
  await page.goto(`/projects/${managed.other}/test/customers`);
  await page.getByRole("heading", { name: "Customers", exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Create customer" }).count()).toBe(0);
  await page.getByRole("link", { name: "Members" }).click();
  await page.getByText("Test product: Operator").waitFor();
});

test("restricting a member to some projects shows the sessions it ends, and saves the project roles", async () => {
  const managed = await setup();
  await join(managed, "operator", "ben");
  const page = await signIn(managed.service.url, MEMBERS);
  await page.getByRole("button", { name: "Actions for ben" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit ben" });
  await dialog.getByRole("radio", { name: "Only some projects" }).check();
  await dialog.getByRole("button", { name: "Add project role" }).click();
  await dialog.getByLabel("Project (row 2)").selectOption("Another product");
  await dialog.getByLabel("Environment (row 2)").selectOption("Live");
  await dialog.getByLabel("Role (row 2)").selectOption("Admin");
  await dialog.getByText("1 session").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Reduce access" }).click();
  await page.getByText("Another product (Live): Admin").first().waitFor();
  const { body } = await managed.manage("GET", MEMBERS.replace("/workspace", "/manage/v1"));
  expect((body["items"] as object[]).at(-1)).toMatchObject({
    name: "ben",
    role: null,
    projectRoles: [
      { projectId: managed.here, environment: null, role: "viewer" },
      { projectId: managed.other, environment: "live", role: "admin" },
    ],
  });
});
