import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { OWNER } from "../../service/test/seed.ts";
import { expectAccessible } from "./axe.ts";
import { openWindow, signIn } from "./browser.ts";

test("who is not signed in is asked to, and then sees the page of the address", async () => {
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

test("nothing sends anybody to another site after the log-in", async () => {
  const { service } = await setupManage();
  const page = await openWindow(service.url);
  await page.goto("/log-in?next=//evil.example/");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/projects\/1\/test/);
  expect(new URL(page.url()).origin).toBe(service.url);
});

test("test and live are told apart by title, edge, address and switch, and one is never the other's page", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers/ada");
  expect(await page.title()).toContain("Test");
  await page.getByRole("button", { name: "Live" }).click();
  await page.waitForURL("**/projects/1/live/customers");
  await page.waitForFunction(() => document.title.includes("LIVE"));
  await expect.poll(() => page.locator(".edge-live").count()).toBe(1);
  expect(await page.locator(".edge-test").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Live" }).getAttribute("aria-pressed")).toBe("true");
});

test("the keyboard finds everything", async () => {
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

test("what is typed right after Ctrl K is searched for, and steers nothing else", async () => {
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

test("the look and the clock are chosen, and kept", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Look: As the system" }).click();
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Look: Light" }).click();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
});

test("logging out leaves nothing to go back to", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/customers");
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  await page.waitForURL("**/log-in");
  await page.goBack();
  await page.getByLabel("Password").waitFor();
});

test("an address of nothing says so, and an address of no page is the API's", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/99/test");
  await page.getByText("There is nothing at this address").waitFor();
  await page.goto("/projects/1/elsewhere");
  await page.getByText("There is nothing at this address").waitFor();
  const reply = await fetch(`${service.url}/nowhere`);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([
    404,
    expect.stringContaining("application/problem+json"),
  ]);
});
