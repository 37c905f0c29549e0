import type { Page } from "playwright-core";
import type { Caller } from "../harness/caller.ts";
import { quantile } from "../harness/figures.ts";
import { awaitFrame, awaitReady, watchTraffic } from "./chromium.ts";

export type Interaction = { readonly name: string; readonly p95Ms: number };

const READY_MS_MAX = 15_000;
const ROW = "main table tbody tr";
const BLOCKED = "customer_50";

/** Remembers when the browser received the first key, click or choice. Playwright needs up to 100 ms before that to find its target. */
const NOTE_INPUT = `for (const kind of ["keydown", "click", "change"])
  addEventListener(kind, ({ timeStamp }) => (window.inputAt ??= timeStamp), { capture: true })`;

/**
 * Searches, sorts, filters and selects in the list of customers, each time on a newly loaded page. Measures the time from the key or click
 * until the page shows the result. Enter sends the search without waiting for more typing.
 */
export async function measureInteractions(
  page: Page,
  { address, caller, rounds }: { address: string; caller: Caller; rounds: number },
): Promise<Interaction[]> {
  await caller.call("POST", "bulk-blocks", { body: { customerIds: [BLOCKED], blocked: true } });
  const measured: Interaction[] = [];
  const traffic = await watchTraffic(page);
  for (const { name, prepare, act, isShown } of interactionsOf(page)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await page.goto(address);
      await awaitReady(page, [ROW], READY_MS_MAX);
      await traffic.settle();
      await prepare?.(round);
      await page.evaluate(NOTE_INPUT);
      await act();
      await awaitFrame(page, isShown);
      times.push(Number(await page.evaluate("performance.now() - window.inputAt")));
    }
    measured.push({ name, p95Ms: quantile(times, 0.95) });
  }
  return measured;
}

type Act = {
  readonly name: string;
  readonly prepare?: (round: number) => Promise<void>;
  readonly act: () => Promise<unknown>;
  /** A condition in the page. */
  readonly isShown: string;
};

function interactionsOf(page: Page): Act[] {
  const search = page.getByLabel("Search customers");
  return [
    {
      name: "search by part of an ID",
      prepare: (round) => search.fill(`mer_${100 + round}`),
      act: async () => {
        await search.press("0");
        await search.press("Enter");
      },
      isShown: everyRow("textContent.includes(document.querySelector('main input[type=search]').value)"),
    },
    ...["Customer", "Balance", "Created"].map((column) => ({
      name: `sort by ${column.toLowerCase()}`,
      act: () => page.getByRole("columnheader", { name: column }).getByRole("button").click(),
      // The list is sorted by creation time, newest first, until the click.
      isShown: `document.querySelectorAll("${ROW}").length > 0 && [...document.querySelectorAll("main th")].some(
        ({ textContent, ariaSort }) => textContent === "${column}" && ariaSort === "ascending")`,
    })),
    {
      name: "filter by blocked",
      act: () => page.getByLabel("Blocked").selectOption("Blocked"),
      isShown: everyRow("textContent.includes('Blocked')"),
    },
    {
      name: "select all rows shown",
      act: () => page.getByLabel(/^Select the \d+ rows shown$/).check(),
      isShown: `document.querySelector("[aria-label='Selected customers']")?.textContent.includes("selected") === true`,
    },
  ];
}

function everyRow(condition: string): string {
  return `(() => {
    const rows = [...document.querySelectorAll("${ROW}")];
    return rows.length > 0 && rows.every(({ textContent }) => ${condition});
  })()`;
}
