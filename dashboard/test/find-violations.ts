import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Runs in the page. Fade-ins lower the contrast, so wait until they finish. Skips endless and scroll-driven animations, which never finish.
const AWAIT_FADES = `Promise.allSettled(document.getAnimations()
  .filter(({ effect, timeline }) => timeline === document.timeline && effect?.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished))`;

/** Finds serious and critical accessibility violations on the current page. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AWAIT_FADES);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
    );
}
