import type { Locator, Page } from "playwright-core";

const STEPS_MAX = 40;

/** As somebody without a mouse gets there: by Tab, or by arrows within a menu. What cannot be reached fails the test. */
export async function tabTo(page: Page, target: Locator, key: "Tab" | "ArrowDown" = "Tab"): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < STEPS_MAX; step++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}`);
}
