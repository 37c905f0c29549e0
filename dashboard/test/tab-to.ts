import type { Locator, Page } from "playwright-core";

const STEPS_MAX = 40;

/** Moves the focus with Tab, or with arrow keys in a menu. Fails if the target cannot be reached. */
export async function tabTo(
  page: Page,
  target: Locator,
  key: "Tab" | "Shift+Tab" | "ArrowDown" = "Tab",
): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < STEPS_MAX; step++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`pressing ${key} does not reach ${target}`);
}
