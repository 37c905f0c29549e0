import { Caller } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { count, ms, rounded } from "../harness/figures.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { OWNER } from "../harness/project.ts";
import { openChromium } from "./chromium.ts";
import { findSubjects } from "./find-subjects.ts";
import { fillDatabase } from "./installations.ts";
import { cookiesOf, type Measured, measurePage } from "./measure.ts";
import { AUTH_PAGES, addressOf, PAGES } from "./pages.ts";

const SCRIPT_BYTES_MAX = 250_000;

await runProof(
  {
    command: "npm run dashboard-proof",
    about: `Fills a database with 100,000 customers and a million ledger entries, and opens every page of the dashboard in Chromium, each
time with an empty cache: until what it is about is there, no skeleton is left and a click would be answered. Fails when that
takes longer than a second at p95, when a first load brings more than 250 kB of compressed JavaScript, or when a page complains.
Charts and the sum of a ledger come when a page can be used already: how long until all is there stands beside, and the JavaScript
of charts is counted apart.`,
    options: {
      customers: { default: 100_000, help: "how many, of nine entries each" },
      entries: { default: 1_000_000, help: "in all; a busy customer has those that the others leave" },
      rounds: { default: 10, help: "loads of each page" },
      "p95-ms": { default: 1_000, help: "the bound; more, on a machine that does much else" },
    },
  },
  async ({ options, stack }) => {
    const { customers, rounds, "p95-ms": p95MsMax } = options;
    const server = await PostgresServer.start(stack);
    const database = await server.createDatabase("purser");
    const { service, project, entries } = await fillDatabase(database, options, stack);
    console.log(`${count(customers)} customers and a busy one, ${count(entries)} ledger entries`);
    const { url } = service;
    const projectId = String(project.context.projectId);
    const subjects = await findSubjects(new Caller(service, project), { projectId, environment: "live" });
    const browser = await openChromium(stack);
    const complaints: string[] = [];
    const cookies = await cookiesOf(browser, { url, complaints }, OWNER);

    const measured: Measured[] = [];
    const faults: string[] = [];
    const visits = [
      ...AUTH_PAGES.map((page) => ({ page, cookies: [] })),
      ...PAGES.map((page) => ({ page, cookies })),
    ];
    for (const { page, cookies: session } of visits) {
      const address = addressOf(page, subjects);
      if (address === null) {
        faults.push(`${page.name}: there is nothing for it to be about`);
        continue;
      }
      const visit = { url, complaints, cookies: session, rounds };
      try {
        const result = await measurePage(browser, visit, { ...page, address });
        measured.push(result);
        print(result);
      } catch (error) {
        // One that does not work keeps nobody from measuring the others.
        faults.push(`${page.name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      }
    }
    faults.push(...measured.flatMap((page) => findFaults(page, p95MsMax)), ...complaints);
    return { faults, figures: summarize(customers, entries, measured) };
  },
);

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}

function print({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }: Measured): void {
  const times = `${ms(p50Ms).padStart(10)} p50 ${ms(p95Ms).padStart(10)} p95 ${ms(settledP95Ms).padStart(10)} all`;
  const charts = chartBytes === 0 ? "" : ` + ${kilobytes(chartBytes)} of charts`;
  console.log(`${times} ${kilobytes(scriptBytes).padStart(8)} of scripts  ${name}${charts}`);
}

function findFaults({ name, p95Ms, scriptBytes }: Measured, p95MsMax: number): string[] {
  return [
    ...(p95Ms > p95MsMax ? [`${name}: p95 ${ms(p95Ms)}, more than ${p95MsMax} ms`] : []),
    ...(scriptBytes > SCRIPT_BYTES_MAX ? [`${name}: ${kilobytes(scriptBytes)} of scripts`] : []),
  ];
}

function summarize(customers: number, entries: number, measured: readonly Measured[]): object {
  return {
    customers,
    entries,
    p95_ms_max: rounded(Math.max(...measured.map(({ p95Ms }) => p95Ms))),
    script_bytes_max: Math.max(...measured.map(({ scriptBytes }) => scriptBytes)),
    pages: Object.fromEntries(
      measured.map(({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }) => [
        name,
        {
          p50_ms: rounded(p50Ms),
          p95_ms: rounded(p95Ms),
          settled_p95_ms: rounded(settledP95Ms),
          script_bytes: scriptBytes,
          chart_bytes: chartBytes,
        },
      ]),
    ),
  };
}
