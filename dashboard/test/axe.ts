import type { Page } from "playwright-core";
import { expect } from "vitest";
import { findViolations } from "./find-violations.ts";

/** Expects no serious or critical accessibility violation on the current page. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([]);
}

/** Runs `expectAccessible` in dark and light mode. */
export async function expectAccessibleInBoth(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
}
