import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { findViolations } from "../../dashboard/test/find-violations.ts";
import { runProof } from "../harness/command.ts";
import { type Appearance, awaitReady, logIn, openChromium, openContext, watchTraffic } from "./chromium.ts";
import { type Development, startDevelopment, startUnowned } from "./installations.ts";
import { AUTH_PAGES, addressOf, type DashboardPage, findSubjects, PAGES, type Subjects } from "./pages.ts";
import { seedWebhooks } from "./seed-webhooks.ts";

/** At this width, tables may scroll sideways. A shadow shows that more columns follow. */
const TABLET = 1024;
const APPEARANCES: readonly Appearance[] = [1440, TABLET, 390].flatMap((width) => [
  { scheme: "light", width },
  { scheme: "dark", width },
]);

/** Parameters that do not exist in an empty installation, so the pages show that nothing was found. */
const UNKNOWN = {
  customerId: "nobody",
  key: "nothing",
  denialId: "1",
  idempotencyKey: "nothing",
  webhookId: "1",
};

const READY_MS_MAX = 60_000;
/** Time for animations to end. */
const SETTLE_MS = 300;

// Runs in the page. Ignores scrollable elements, and elements that are one pixel wide, which are for screen readers.
const INSPECT_LAYOUT = `JSON.stringify({
  overflow: document.scrollingElement.scrollWidth - innerWidth,
  tables: innerWidth === ${TABLET} ? [] : [...document.querySelectorAll("table")]
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

await runProof(
  {
    command: "npm run screenshots",
    about: `Starts three installations: with the demo, empty, and without an owner. Takes a screenshot of every page of the dashboard,
light and dark, 1440, 1024 and 390 pixels wide, with data and empty. Fails if a page writes errors to its console, is wider than
its window, truncates text without a title, or has an accessibility violation.`,
    options: {
      out: {
        default: ".screenshots",
        takes: "DIR",
        help: "directory for files such as home-demo-light-1440.png",
      },
      only: { default: null, takes: "NAMES", help: "only these pages, separated by commas" },
    },
  },
  async ({ options: { out, only }, stack }) => {
    const isWanted = readWanted(only);
    // Removes screenshots of pages that no longer exist.
    if (only === null) await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    const browser = await openChromium(stack);
    const faults: string[] = [];
    const setupUrl = await startUnowned(stack);
    let taken = 0;
    for (const content of ["demo", "empty"] as const) {
      const development = await startDevelopment(content, stack);
      if (content === "demo") await seedWebhooks(development);
      const found = await findSubjects(development.caller, { projectId: "1", environment: "test" });
      const subjects = { ...(content === "empty" && UNKNOWN), ...found };
      for (const appearance of APPEARANCES)
        taken += await takeAll(browser, {
          out,
          development,
          content,
          subjects,
          setupUrl,
          appearance,
          isWanted,
          faults,
        });
    }
    console.log(`${taken} screenshots in ${out}`);
    return { faults, figures: { screenshots: taken, faults: faults.length } };
  },
);

function readWanted(only: string | null): (page: DashboardPage) => boolean {
  const wanted = only?.split(",");
  const unknown = wanted?.filter((name) => ![...AUTH_PAGES, ...PAGES].some((page) => page.name === name));
  if (unknown !== undefined && unknown.length > 0) throw new Error(`unknown page: ${unknown.join(", ")}`);
  return ({ name }) => wanted === undefined || wanted.includes(name);
}

type Taking = {
  readonly out: string;
  readonly development: Development;
  readonly content: "demo" | "empty";
  readonly subjects: Subjects;
  readonly setupUrl: string;
  readonly appearance: Appearance;
  readonly isWanted: (page: DashboardPage) => boolean;
  readonly faults: string[];
};

async function takeAll(browser: Browser, taking: Taking): Promise<number> {
  const { appearance, isWanted, faults, development } = taking;
  const { url, owner } = development;
  const context = await openContext(browser, { url, appearance, complaints: faults });
  const visitor = await context.newPage();
  const auth = AUTH_PAGES.filter(isWanted);
  for (const page of auth) await take(visitor, page, taking);
  const pages = PAGES.filter(isWanted);
  const member = await logIn(context, owner);
  for (const page of pages) await take(member, page, taking);
  await context.close();
  return auth.length + pages.length;
}

async function take(page: Page, shown: DashboardPage, taking: Taking): Promise<void> {
  const { out, content, appearance, faults } = taking;
  const name = `${shown.name}-${content}-${appearance.scheme}-${appearance.width}`;
  // Without this, an address that differs only after the # would not be reloaded.
  await page.goto("about:blank");
  const traffic = await watchTraffic(page);
  await page.goto(findAddress(shown, taking));
  await awaitReady(page, ["h1"], READY_MS_MAX);
  await traffic.settle();
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
  for (const fault of [...(await findLayoutFaults(page)), ...(await findViolations(page))])
    faults.push(`${name}: ${fault}`);
}

function findAddress(shown: DashboardPage, { content, subjects, setupUrl, development }: Taking): string {
  if (content === "demo" && shown.name === "setup") return setupUrl;
  // Without its token, the page shows that the link is incomplete.
  const { suffix: _, ...withoutSuffix } = shown;
  const address = addressOf(content === "empty" ? withoutSuffix : shown, subjects);
  if (address === null) throw new Error(`found no data for ${shown.name}`);
  return `${development.url}${address}`;
}

/** Finds a page wider than its window, tables wider than their container (except on tablets), and truncated text without a title. */
async function findLayoutFaults(page: Page): Promise<string[]> {
  const { overflow, tables, cut }: { overflow: number; tables: string[]; cut: string[] } = JSON.parse(
    String(await page.evaluate(INSPECT_LAYOUT)),
  );
  return [
    ...(overflow > 0 ? [`${overflow} pixels wider than its window`] : []),
    ...tables.map((label) => `the table does not fit: ${label}`),
    ...cut.map((text) => `truncated, and no title shows the whole text: ${text}`),
  ];
}
