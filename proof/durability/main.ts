import { parseArgs } from "node:util";
import pg from "pg";
import { FEATURE } from "../bench/load/calls.ts";
import { integerBetween } from "../faults/chance.ts";
import { CleanUp } from "../faults/machines/clean-up.ts";
import { PostgresServer } from "../faults/machines/postgres-server.ts";
import { pause } from "../faults/pause.ts";
import { Service } from "../manage/service.ts";
import { openShop, type Shop } from "../manage/shop.ts";

const HELP = `npm run durability-proof -- [options]

Writes through the management API on a database whose default is synchronous_commit = off, ends PostgreSQL in the middle with
kill -9 or an immediate stop, in turn, and looks for every write that was acknowledged: top-ups, reversals, plan assignments,
imports and key revocations. Needs Linux. Fails when one is lost.

  --trials N   crashes (50)
  --json       the last line is JSON
`;

/** So many are acknowledged before the crash, however slow the machine, and some more for as long as this. */
const WRITES_MIN = 10;
const BURST_MAX_MS = 20_000;
const BURST_MS = { min: 0, max: 300 };
/** After the restart, until the service answers again. */
const BACK_WITHIN_MS = 60_000;

const KINDS = ["topUp", "assignment", "import", "revocation", "reversal"] as const;
type Kind = (typeof KINDS)[number];
type Written = { readonly kind: Kind; readonly name: string };

/** Which of these names are stored, by kind. */
const FIND: Record<Kind, string> = {
  topUp: "select reference as name from cell.grants where reference = any($1::text[])",
  assignment: `
    select c.customer_id as name
    from cell.customers as c
    join cell.assignments as a on a.customer_number = c.number
    where c.customer_id = any($1::text[])`,
  import: "select reference as name from cell.grants where reference = any($1::text[])",
  revocation:
    "select id::text as name from control.api_keys where revoked_at is not null and id::text = any($1::text[])",
  reversal:
    "select metadata ->> 'reference' as name from cell.ledger where metadata ->> 'reference' = any($1::text[])",
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      trials: { type: "string", default: "50" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const trials = Number(values.trials);
  if (!Number.isInteger(trials) || trials < 1)
    throw new Error(`--trials takes a number, not ${values.trials}`);
  await using stack = new AsyncDisposableStack();
  const postgres = await PostgresServer.create(new CleanUp());
  await postgres.start();
  await query(postgres.url("postgres", "postgres"), "create database purser");
  await query(postgres.url("postgres", "postgres"), "alter database purser set synchronous_commit = off");
  // Otherwise the server's own writer saves most of what an asynchronous commit would lose.
  await query(postgres.url("postgres", "postgres"), "alter system set wal_writer_delay = '10s'");
  await query(postgres.url("postgres", "postgres"), "select pg_reload_conf()");
  const databaseUrl = postgres.url("postgres", "purser");
  const shop = await openShop({ databaseUrl });
  const service = await Service.start(databaseUrl, stack);

  const counts: Record<Kind, number> = { topUp: 0, assignment: 0, import: 0, revocation: 0, reversal: 0 };
  const lost: string[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const isKill = trial % 2 === 0;
    const acknowledged = await writeUntil(service, shop, trial, () =>
      isKill ? postgres.kill() : postgres.stopImmediately(),
    );
    await postgres.start();
    for (const kind of KINDS) {
      const names = acknowledged.filter((write) => write.kind === kind).map(({ name }) => name);
      const found = new Set((await query(databaseUrl, FIND[kind], [names])).map((row) => row["name"]));
      counts[kind] += names.length;
      const missing = names.filter((name) => !found.has(name));
      lost.push(
        ...missing.map((name) => `${kind} ${name}, trial ${trial}, ${isKill ? "kill -9" : "immediate stop"}`),
      );
    }
  }
  console.log(`${trials} crashes; acknowledged: ${JSON.stringify(counts)}; lost: ${lost.length}`);
  for (const line of lost) console.error(`FAILED: ${line}`);
  const unseen = KINDS.filter((kind) => counts[kind] === 0);
  if (unseen.length > 0) console.error(`FAILED: never acknowledged: ${unseen.join(", ")}`);
  if (values.json) console.log(JSON.stringify({ trials, acknowledged: counts, lost: lost.length }));
  process.exitCode = lost.length + unseen.length > 0 ? 1 : 0;
}

/** Writes of all kinds at once, until the crash; returns those that were answered with 200. */
async function writeUntil(
  service: Service,
  { here, token, apiKey }: Shop,
  trial: number,
  crash: () => Promise<unknown>,
): Promise<Written[]> {
  const post = (path: string, body: object | string, bearer = token): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${bearer}`,
        "content-type": typeof body === "string" ? "text/csv" : "application/json",
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
  const here1 = (path: string, body: object | string) => post(`${here}/${path}`, body);
  const customer = `payer-${trial}`;
  const backBeforeMs = performance.now() + BACK_WITHIN_MS;
  while (
    !(await here1(`customers/${customer}/plan`, { plan: "wide" }).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (performance.now() > backBeforeMs)
      throw new Error(`the service did not come back:\n${service.lastWords}`);
    await pause(100);
  }
  // What reversals and revocations need, before: a charge's own commit would save what came before it.
  const charges: string[] = [];
  const keys: string[] = [];
  for (let i = 0; i < 20; i++) {
    const charge = await post(
      "/v1/consume",
      { customerId: customer, feature: FEATURE, quantity: 1, idempotencyKey: `charge-${trial}-${i}` },
      apiKey,
    );
    charges.push(/"consumeId":"([^"]+)"/.exec(await charge.text())?.[1] ?? "");
    const made = await here1("api-keys", { name: "Leaked", scopes: ["check"] });
    keys.push(/"id":"?(\d+)/.exec(await made.text())?.[1] ?? "");
  }
  const written: Written[] = [];
  let isOver = false;
  const write: Record<Kind, (name: string, i: number) => Promise<Written | null>> = {
    topUp: (name) =>
      keep(
        "topUp",
        name,
        here1(`customers/${customer}/credits`, { credits: 1, kind: "manual", reference: name }),
      ),
    assignment: (name) => keep("assignment", name, here1(`customers/${name}/plan`, { plan: "pro" })),
    import: (name) =>
      keep(
        "import",
        name,
        here1(`imports?name=${name}`, `customerId,credits,reference\n${name},5,${name}\n`),
      ),
    revocation: async (_, i) => {
      const id = keys[i];
      return id === undefined ? null : keep("revocation", id, here1(`api-keys/${id}/revoke`, {}));
    },
    reversal: async (name, i) => {
      const id = charges[i];
      const path = `customers/${customer}/consumes/${id}/reverse`;
      return id === undefined ? null : keep("reversal", name, here1(path, { reference: name }));
    },
  };
  const writers = KINDS.map(async (kind) => {
    for (let i = 0; !isOver; i++) {
      const done = await write[kind](`${kind}-${trial}-${i}`.toLowerCase(), i).catch(() => null);
      if (done !== null) written.push(done);
      else await pause(10);
    }
  });
  const crashBeforeMs = performance.now() + BURST_MAX_MS;
  while (written.length < WRITES_MIN && performance.now() < crashBeforeMs) await pause(5);
  await pause(integerBetween(BURST_MS.min, BURST_MS.max));
  await crash();
  isOver = true;
  await Promise.all(writers);
  return written;
}

async function keep(kind: Kind, name: string, reply: Promise<Response>): Promise<Written | null> {
  const { ok } = await reply;
  return ok ? { kind, name } : null;
}

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

await main();
process.exit();
