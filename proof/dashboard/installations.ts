import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Caller } from "../harness/caller.ts";
import { countRows, migrateDatabase } from "../harness/database.ts";
import { fillCustomers, makeBusyCustomer } from "../harness/fill-customers.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openInstallation, type Project } from "../harness/project.ts";
import { endProcess, Service, spawnPurser } from "../harness/purser.ts";
import { steadyPort } from "../harness/steady-port.ts";
import type { Owner } from "./chromium.ts";

export type Development = {
  readonly url: string;
  readonly owner: Owner;
  readonly caller: Caller;
  readonly databaseUrl: string;
};

const DRAFT = {
  name: "Free",
  allowances: [{ credits: 300, period: "month" }],
  features: [
    { feature: "hd.export", limit: { quantity: 5, period: "day" } },
    { feature: "image.generate" },
    { feature: "video.render" },
  ],
};

/** `purser dev` in a temporary directory. */
export async function startDevelopment(
  content: "demo" | "empty",
  stack: AsyncDisposableStack,
): Promise<Development> {
  const directory = await mkdtemp(join(tmpdir(), "purser-screenshots-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  // PostgreSQL runs as another user if this process is root, and needs access.
  await chmod(directory, 0o755);
  const port = await steadyPort();
  const options = ["--json", "--port", String(port), "--directory", directory];
  const child = spawnPurser(["dev", ...options, ...(content === "empty" ? ["--no-demo"] : [])], {});
  stack.defer(() => endProcess(child));
  const line = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.once("exit", (code) => reject(new Error(`purser dev ended with code ${code}`)));
    child.stderr.pipe(process.stderr);
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("\n")) resolve(said.slice(0, said.indexOf("\n")));
    });
  });
  const { url, owner, managementToken: token, keys, databaseUrl } = JSON.parse(line);
  const caller = new Caller({ url }, { apiKey: keys.test, token, here: "/manage/v1/projects/1/test" });
  // Gives a plan unpublished changes.
  if (content === "demo") await caller.call("PUT", "plans/free/draft", { body: DRAFT });
  return { url, owner, caller, databaseUrl };
}

/** A service without an owner. Returns the setup link that it logs. */
export async function startUnowned(stack: AsyncDisposableStack): Promise<string> {
  const server = await PostgresServer.start(stack);
  await migrateDatabase(server.url("postgres"));
  return (await Service.start(server.url("postgres"), stack)).logged("setupUrl");
}

const ENTRIES_EACH = 9;
const BUSY_ENTRIES_MIN = 100;

/** One event for each customer. */
const EVENTS = `
  insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
  select now(), gen_random_uuid(), environment_id, number, 'tokens.generated', 1, now(), 'fill'
  from cell.customers`;

/** A webhook that sends nothing, with a delivery for each customer. */
const DELIVERIES = `
  with webhook as (
    insert into cell.webhooks (environment_id, url, types, secret, created_at, disabled_at)
    select environment_id, 'https://api.example.com/purser', '{balance.low}', 'whsec_AAAA', now(), now()
    from cell.customers
    limit 1
    returning id
  ), notice as (
    insert into cell.notices (environment_id, customer_number, type, sequence, details, effective_at, recorded_at)
    select environment_id, number, 'balance.low', 9, '{"pool":"credits","threshold":100,"balance":90}', now(), now()
    from cell.customers
    returning number, customer_number
  )
  insert into cell.deliveries (webhook_id, notice, customer_number, state, attempts, due_at, retried_since, attempted_at, status, answer)
  select webhook.id, notice.number, notice.customer_number, 'delivered', 1, now(), now(), now(), 204, ''
  from webhook, notice`;

type Filled = { readonly service: Service; readonly project: Project; readonly entries: number };

/** Nine entries, one event and one delivery per customer. A busy customer has the remaining entries, and many denials, top-ups and plan changes. */
export async function openFilled(
  wanted: { readonly customers: number; readonly entries: number },
  stack: AsyncDisposableStack,
): Promise<Filled> {
  const { customers } = wanted;
  const busyEntries = wanted.entries - customers * ENTRIES_EACH;
  if (busyEntries < BUSY_ENTRIES_MIN)
    throw new Error(
      `${customers} customers have ${customers * ENTRIES_EACH} entries; --entries must be at least ${BUSY_ENTRIES_MIN} more`,
    );
  const installation = await openInstallation(stack);
  const { database, project } = installation;
  const service = await Service.start(database.url, stack);
  await fillCustomers({ ...installation, service }, "pro", customers);
  await makeBusyCustomer({ ...installation, service }, busyEntries);
  await database.query(EVENTS);
  await database.query(DELIVERIES);
  // Otherwise autovacuum would run during the measurements.
  await database.query("vacuum (analyze)");
  return { service, project, entries: await countRows(database, "cell.ledger") };
}
