import { Caller, type Reply } from "../harness/caller.ts";
import { quantile } from "../harness/figures.ts";
import type { PostgresServer } from "../harness/postgres.ts";
import type { Project } from "../harness/project.ts";
import type { Service } from "../harness/purser.ts";
import { describePlans, type Explained } from "./explain.ts";
import { customerPages, homePages, otherPages, type Page } from "./pages.ts";

const WARM_UP_CALLS = 10;
const FURTHER_PAGES = 10;

export type Measured = {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly explained: Explained;
  readonly page: Page;
};

type Parts = { readonly server: PostgresServer; readonly service: Service; readonly project: Project };

/** Times every list and search sequentially, and explains one call of each. */
export async function measurePages(
  parts: Parts & { readonly customers: number; readonly calls: number },
  onMeasured: (measured: Measured) => void,
): Promise<{ measured: Measured[]; failures: string[]; left: string[] }> {
  const { server, service, project, customers, calls } = parts;
  const caller = new Caller(service, project);
  const get: Get = (path) => caller.call("GET", path);
  const world = { project, customers, cursors: await walkCustomers(get, project, customers) };
  const document = JSON.parse((await get("/openapi/manage.json")).text);
  const { pages, left } = otherPages(document, world);
  const measured: Measured[] = [];
  const failures: string[] = [];
  const measure = async (page: Page): Promise<void> => {
    const send = (call: number): Promise<Reply> =>
      page.body === undefined
        ? get(page.path(call))
        : caller.call("POST", page.path(call), { body: page.body(call) });
    const { p50Ms, p95Ms } = await time(send, calls);
    const log = await server.explain(async () => {
      await send(calls);
    });
    const result = { name: page.name, p50Ms, p95Ms, explained: describePlans(log), page };
    onMeasured(result);
    measured.push(result);
  };
  // A failure must not prevent the other measurements.
  const attempt = (work: Promise<void>): Promise<void> =>
    work.catch(
      (error: unknown) => void failures.push(error instanceof Error ? error.message : String(error)),
    );
  for (const page of [...customerPages(world), ...homePages(world)]) await attempt(measure(page));
  for (const page of pages) {
    await attempt(measure(page));
    await attempt(
      findFurther(get, page)
        .then((further) => further && measure(further))
        .then(() => {}),
    );
  }
  return { measured, failures, left };
}

type Get = (path: string) => Promise<Reply>;
type ListPage = {
  readonly items?: readonly { readonly customerId: string }[];
  readonly nextCursor?: string | null;
};

/** Reads all pages of the customer list, and checks that it contains each customer once. */
async function walkCustomers(get: Get, { here }: Project, customers: number): Promise<string[]> {
  const cursors: string[] = [];
  const seen = new Set<string>();
  let rows = 0;
  for (let cursor = ""; ; ) {
    const { text } = await get(`${here}/customers?limit=200${cursor}`);
    const { items = [], nextCursor }: ListPage = JSON.parse(text);
    for (const { customerId } of items) seen.add(customerId);
    rows += items.length;
    if (typeof nextCursor !== "string") break;
    cursors.push(nextCursor);
    cursor = `&cursor=${nextCursor}`;
  }
  if (rows !== customers + 1 || seen.size !== rows)
    throw new Error(`the list has ${rows} rows of ${seen.size} customers, expected ${customers + 1}`);
  return cursors;
}

/** Finds a later page of the list. Null if there is none. */
async function findFurther(get: Get, { name, path }: Page): Promise<Page | null> {
  const first = path(0);
  let further = first;
  for (let i = 0; i < FURTHER_PAGES; i++) {
    const { nextCursor }: ListPage = JSON.parse((await get(further)).text);
    if (typeof nextCursor !== "string") break;
    further = `${first}${first.includes("?") ? "&" : "?"}cursor=${nextCursor}`;
  }
  return further === first ? null : { name: `${name}, later page`, path: () => further };
}

async function time(
  send: (call: number) => Promise<Reply>,
  calls: number,
): Promise<{ p50Ms: number; p95Ms: number }> {
  const times: number[] = [];
  for (let i = -WARM_UP_CALLS; i < calls; i++) {
    const { ms } = await send(Math.abs(i));
    if (i >= 0) times.push(ms);
  }
  return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) };
}
