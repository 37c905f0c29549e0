import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { runProof } from "../harness/command.ts";
import { awaitReady, type Look, logIn, openChromium, openContext } from "./chromium.ts";
import { findLayoutFaults } from "./find-layout-faults.ts";
import { findSubjects } from "./find-subjects.ts";
import { type Development, startDevelopment, startUnowned } from "./installations.ts";
import { AUTH_PAGES, addressOf, type DashboardPage, PAGES, type Subjects } from "./pages.ts";
import { watchTraffic } from "./traffic.ts";

const LOOKS: readonly Look[] = [1440, 390].flatMap((width) => [
  { scheme: "light", width },
  { scheme: "dark", width },
]);

/** Where nothing is, pages about something say that it is not there. */
const NOBODY = { customerId: "nobody", key: "nothing", denialId: "1", idempotencyKey: "nothing" };

const READY_MS_MAX = 60_000;
/** Until what is drawn over time has been drawn: a chart, a toast. */
const SETTLE_MS = 300;

await runProof(
  {
    command: "npm run screenshots",
    about: `Starts fresh installations, one with the demo, one without, and one that nobody owns, and takes a picture of every page of the
dashboard: light and dark, 1440 and 390 wide, with data and empty. Fails when a page complains on its console, is wider than its
window, or cuts text off that no title has the whole of.`,
    options: {
      out: {
        default: ".screenshots",
        takes: "DIR",
        help: "where to; pictures are named home-demo-light-1440.png",
      },
      only: { default: null, takes: "NAMES", help: "only these pages, by name, with commas between them" },
    },
  },
  async ({ options: { out, only }, stack }) => {
    const isWanted = readWanted(only);
    // A picture of a page that is gone would look like one of today.
    if (only === null) await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    const browser = await openChromium(stack);
    const faults: string[] = [];
    const setupUrl = await startUnowned(stack);
    let taken = 0;
    for (const content of ["demo", "empty"] as const) {
      const development = await startDevelopment(content, stack);
      const found = await findSubjects(development.caller, { projectId: "1", environment: "test" });
      const subjects = { ...(content === "empty" && NOBODY), ...found };
      for (const look of LOOKS)
        taken += await takeAll(browser, {
          out,
          development,
          content,
          subjects,
          setupUrl,
          look,
          isWanted,
          faults,
        });
    }
    console.log(`${taken} pictures in ${out}`);
    return { faults, figures: { pictures: taken, faults: faults.length } };
  },
);

function readWanted(only: string | null): (page: DashboardPage) => boolean {
  const wanted = only?.split(",");
  const unknown = wanted?.filter((name) => ![...AUTH_PAGES, ...PAGES].some((page) => page.name === name));
  if (unknown !== undefined && unknown.length > 0) throw new Error(`there is no page ${unknown.join(", ")}`);
  return ({ name }) => wanted === undefined || wanted.includes(name);
}

type Taking = {
  readonly out: string;
  readonly development: Development;
  readonly content: "demo" | "empty";
  readonly subjects: Subjects;
  readonly setupUrl: string;
  readonly look: Look;
  readonly isWanted: (page: DashboardPage) => boolean;
  readonly faults: string[];
};

async function takeAll(browser: Browser, taking: Taking): Promise<number> {
  const { look, isWanted, faults, development } = taking;
  const { url, owner } = development;
  const context = await openContext(browser, { url, look, complaints: faults });
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
  const { out, content, look, faults } = taking;
  const name = `${shown.name}-${content}-${look.scheme}-${look.width}`;
  // An address that differs behind the # alone would not be loaded anew.
  await page.goto("about:blank");
  const traffic = await watchTraffic(page);
  await page.goto(findAddress(shown, taking));
  await awaitReady(page, ["h1"], READY_MS_MAX);
  await traffic.settle();
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
  for (const fault of await findLayoutFaults(page)) faults.push(`${name}: ${fault}`);
}

function findAddress(shown: DashboardPage, { content, subjects, setupUrl, development }: Taking): string {
  if (content === "demo" && shown.name === "setup") return setupUrl;
  // A link that lost its end.
  const { suffix: _, ...withoutSuffix } = shown;
  const address = addressOf(content === "empty" ? withoutSuffix : shown, subjects);
  if (address === null) throw new Error(`there is nothing for ${shown.name} to be about`);
  return `${development.url}${address}`;
}
