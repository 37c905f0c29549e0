import type { Locator, Page } from "playwright-core";

const STEPS_MAX = 60;

type Key = "Tab" | "Shift+Tab" | "ArrowDown";

/** Moves the focus with Tab, or with arrow keys in a menu. Fails if the target cannot be reached. */
export async function tabTo(page: Page, target: Locator, key: Key = "Tab"): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < STEPS_MAX; step++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`pressing ${key} does not reach ${target}`);
}

/** Moves the focus to a button, a link or a menu item, and presses Enter. */
export async function pressEnterOn(page: Page, target: Locator, key: Key = "Tab"): Promise<void> {
  await tabTo(page, target, key);
  await page.keyboard.press("Enter");
}

/** Moves the focus to a field and types. In a select, this selects the option that begins with the text. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.type(text);
}
