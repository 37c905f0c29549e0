import type { Page } from "playwright-core";

/** What a look at a picture would find: a page that is wider than its window, a table than its place, and text that is cut off with no way to read it. */
export async function findLayoutFaults(page: Page): Promise<string[]> {
  const { overflow, tables, cut }: { overflow: number; tables: string[]; cut: string[] } = JSON.parse(
    String(await page.evaluate(LOOK_AT_LAYOUT)),
  );
  return [
    ...(overflow > 0 ? [`${overflow} pixels wider than its window`] : []),
    ...tables.map((label) => `the table does not fit: ${label}`),
    ...cut.map((text) => `cut off, and no title has the whole of it: ${text}`),
  ];
}

// Runs in the page. What scrolls can be read, and what only readers see is a pixel wide on purpose.
const LOOK_AT_LAYOUT = `JSON.stringify({
  overflow: document.scrollingElement.scrollWidth - innerWidth,
  tables: [...document.querySelectorAll("table")]
    .filter(({ scrollWidth, parentElement }) => scrollWidth > parentElement.clientWidth + 1)
    .map(({ parentElement }) => parentElement.ariaLabel),
  cut: [...document.querySelectorAll("body *")]
    .filter((element) => {
      const { overflowX } = getComputedStyle(element);
      return (overflowX === "hidden" || overflowX === "clip")
        && element.clientWidth > 1
        && element.scrollWidth > element.clientWidth + 1
        && element.textContent.trim() !== ""
        && element.closest("[title], svg") === null
        && element.querySelector("[title]") === null;
    })
    .map((element) => element.textContent.trim().slice(0, 80)),
})`;
