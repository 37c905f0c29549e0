import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupManage } from "../../service/test/manage.ts";
import { expectAccessible } from "./axe.ts";
import { signIn } from "./browser.ts";

const ADA = "/projects/1/test/customers/ada";

test("closing a dialog returns the focus to the button that opened it", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  for (const name of ["Add credits", "Assign plan"]) {
    const button = page.getByRole("button", { name, exact: true });
    await button.click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
  }
  const more = page.getByRole("button", { name: "More actions" });
  await more.click();
  await page.getByRole("menuitem", { name: "Block" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => more.evaluate((element) => element === document.activeElement)).toBe(true);
});

test("clicking outside closes an empty dialog, and asks for confirmation before discarding input", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  const dialog = page.getByRole("dialog");
  const add = page.getByRole("button", { name: "Add credits", exact: true });
  await add.click();
  await dialog.waitFor();
  await page.mouse.click(20, 500);
  await dialog.waitFor({ state: "detached" });

  await add.click();
  const credits = page.getByLabel("Credits", { exact: true });
  await credits.fill("250");
  await page.mouse.click(20, 500);
  await page.getByText("Discard your changes?").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Keep editing" }).click();
  await page.getByText("Discard your changes?").waitFor({ state: "detached" });
  expect(await credits.inputValue()).toBe("250");
  await page.mouse.click(20, 500);
  await page.getByRole("button", { name: "Discard" }).click();
  await dialog.waitFor({ state: "detached" });
  await add.click();
  expect(await credits.inputValue()).toBe("");
});

/** The position of the heading, and the styles that only Base UI's scroll lock sets. The lock would reserve a strip for the scrollbar. */
function lookOf(page: Page) {
  return page.evaluate(() => [
    document.documentElement.style.cssText,
    document.body.style.cssText,
    document.querySelector("h1")?.getBoundingClientRect().x,
  ]);
}

test("a dialog's backdrop and the environment bar span the full window, and the page does not move", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.setViewportSize({ width: 1440, height: 500 });
  const widthOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => element.getBoundingClientRect().width);
  const before = await lookOf(page);
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  expect(await widthOf("[data-backdrop]")).toBe(1440);
  expect(await widthOf(".edge-test")).toBe(1440);
  expect(await lookOf(page)).toEqual(before);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search everything" }).waitFor();
  expect(await lookOf(page)).toEqual(before);
});

test("opening a menu neither moves the page nor leaves an empty strip in place of the scrollbar", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.setViewportSize({ width: 1440, height: 500 });
  for (const [path, name] of [
    ["customers/ada", "More actions"],
    ["customers", "Choose columns"],
  ] as const) {
    await page.goto(`${service.url}/projects/1/test/${path}`);
    const button = page.getByRole("button", { name });
    await button.waitFor();
    const before = await lookOf(page);
    await button.click();
    await page.getByRole("menu").waitFor();
    // Base UI would set the lock shortly after the menu is shown.
    await page.waitForTimeout(200);
    expect(await lookOf(page)).toEqual(before);
    await expectAccessible(page);
  }
});

test("dialogs open without animation if the system requests reduced motion", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, ADA);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("button", { name: "Add credits", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  const durations = await page
    .locator("[data-backdrop], [role=dialog]")
    .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).transitionDuration));
  expect(durations.map((duration) => Number.parseFloat(duration) < 0.001)).toEqual([true, true]);
});

test("the plan key follows the plan name until the key is edited", async () => {
  const { service } = await setupManage();
  const page = await signIn(service.url, "/projects/1/test/plans");
  await page.getByRole("button", { name: "Create plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Create plan" });
  const [name, key] = [dialog.getByLabel("Name"), dialog.getByLabel("Key")];
  expect(await name.evaluate((element) => element === document.activeElement)).toBe(true);
  await name.fill("  Équipe & Team plan ");
  expect(await key.inputValue()).toBe("equipe-team-plan");
  await key.fill("team");
  await name.fill("Team plan");
  expect(await key.inputValue()).toBe("team");
});
