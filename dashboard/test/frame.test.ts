import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { OWNER } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { openWindow, signIn } from "./browser.ts";

test("a visitor logs in and then sees the requested page", async () => {
  const { service } = await setupManage();
  const page = await openWindow(service.url);
  await page.goto("/projects/1/test/customers");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill("wrong-wrong-wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Customers" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/projects/1/test/customers");
});

test("the login never redirects to another site", async () => {
  const { service } = await setupManage();
  const page = await openWindow(service.url);
  await page.goto("/log-in?next=//evil.example/");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/projects\/1\/test/);
  expect(new URL(page.url()).origin).toBe(service.url);
});

test("the title, bar, URL and switch show the environment, and switching on a detail page opens its list", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers/ada");
  expect(await page.title()).toContain("Test");
  await page.getByRole("button", { name: "Live" }).click();
  await page.waitForURL("**/projects/1/live/customers");
  await page.waitForFunction(() => document.title.includes("Live"));
  await expect.poll(() => page.locator(".edge-live").count()).toBe(1);
  expect(await page.locator(".edge-test").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Live" }).getAttribute("aria-pressed")).toBe("true");
});

test("the Running out tab belongs to the Customers section", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/running-out");
  const sections = page.getByRole("navigation", { name: "Main" });
  await sections.locator("[aria-current=page]").waitFor();
  expect(await sections.locator("[aria-current=page]").allTextContents()).toEqual(["Customers"]);
  expect(await sections.locator("[data-status=active]").allTextContents()).toEqual(["Customers"]);
  await page.getByRole("button", { name: "Live" }).click();
  await page.waitForURL("**/projects/1/live/customers");
});

test("search, navigation and help can be used with the keyboard", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  await page.keyboard.type("ada");
  await page.getByRole("option", { name: /ada/ }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/customers/ada");
  await page.getByRole("heading", { name: "ada" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL("**/plans");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

test("a search without matches says so", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).fill("zzzz");
  await page.getByText("No results.", { exact: true }).waitFor();
});

test("keys typed right after Ctrl K go to the search box", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.reload();
  await page.locator("h1").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("pi_Northlight?gp/");
  const box = page.getByRole("combobox", { name: "Search everything" });
  await expect.poll(() => box.inputValue()).toBe("pi_Northlight?gp/");
  expect(new URL(page.url()).pathname).toBe("/projects/1/test/customers");
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL("**/plans");
});

test("a selected theme is kept after a reload", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Theme: System" }).click();
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Theme: Light" }).click();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
});

test("going back after logging out shows the login page", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  await page.waitForURL("**/log-in");
  await page.goBack();
  await page.getByLabel("Password").waitFor();
});

test("unknown dashboard pages show a not-found page, and other unknown paths return an API error", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/99/test");
  await page.getByText("This page does not exist").waitFor();
  await page.goto("/projects/1/elsewhere");
  await page.getByText("This page does not exist").waitFor();
  const reply = await fetch(`${service.url}/nowhere`);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([
    404,
    expect.stringContaining("application/problem+json"),
  ]);
});
