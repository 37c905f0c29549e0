import { setTimeout as pause } from "node:timers/promises";
import { Caller, type Reply } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { openInstallation } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { integerBetween } from "../harness/random.ts";

/** The crash happens after this many acknowledged writes and a random further delay. */
const WRITES_MIN = 10;
const BURST_MAX_MS = 20_000;
const BURST_MS = { min: 0, max: 300 };
/** Time from the restart of the database to the first response from the service. */
const BACK_WITHIN_MS = 60_000;

const KINDS = ["topUp", "assignment", "import", "revocation", "reversal"] as const;
type Kind = (typeof KINDS)[number];
type Written = { readonly kind: Kind; readonly name: string };

/** Selects the given names that are stored. */
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

await runProof(
  {
    command: "npm run durability-proof",
    about: `Writes through the management API to a database whose default is synchronous_commit = off. Meanwhile stops PostgreSQL,
alternately with kill -9 and with an immediate stop. Fails if an acknowledged write is lost: a top-up, reversal, plan assignment,
import or key revocation. Needs Linux.`,
    options: { trials: { default: 50, help: "number of crashes" } },
  },
  async ({ options: { trials }, stack }) => {
    // Delays the WAL writer, which would otherwise flush most asynchronous commits before the crash.
    const { server, database, project } = await openInstallation(stack, ["wal_writer_delay=10s"], []);
    await database.query("alter database purser set synchronous_commit = off");
    const service = await Service.start(database.url, stack);
    const caller = new Caller(service, project);

    const counts: Record<Kind, number> = { topUp: 0, assignment: 0, import: 0, revocation: 0, reversal: 0 };
    const lost: string[] = [];
    for (let trial = 0; trial < trials; trial++) {
      const isKill = trial % 2 === 0;
      await untilBack(service, caller, trial);
      const acknowledged = await writeUntil(caller, trial, () =>
        isKill ? server.kill() : server.stopImmediately(),
      );
      await server.startAgain();
      for (const kind of KINDS) {
        const names = acknowledged.filter((write) => write.kind === kind).map(({ name }) => name);
        const found = new Set((await database.query(FIND[kind], [names])).map((row) => row["name"]));
        counts[kind] += names.length;
        const missing = names.filter((name) => !found.has(name));
        const how = isKill ? "kill -9" : "immediate stop";
        lost.push(...missing.map((name) => `${kind} ${name}, trial ${trial}, ${how}`));
      }
    }
    console.log(`${trials} crashes; acknowledged: ${JSON.stringify(counts)}; lost: ${lost.length}`);
    const unseen = KINDS.filter((kind) => counts[kind] === 0).map((kind) => `never acknowledged: ${kind}`);
    return { faults: [...lost, ...unseen], figures: { trials, acknowledged: counts, lost: lost.length } };
  },
);

function payerOf(trial: number): string {
  return `payer-${trial}`;
}

/** Assigns a plan to the customer of this trial, and retries until the service responds. */
async function untilBack(service: Service, caller: Caller, trial: number): Promise<void> {
  const backBeforeMs = performance.now() + BACK_WITHIN_MS;
  const assign = () => caller.call("POST", `customers/${payerOf(trial)}/plan`, { body: { plan: "wide" } });
  while ((await assign().catch(() => null)) === null) {
    if (performance.now() > backBeforeMs)
      throw new Error(`the service did not respond after the restart: ${service.lastOutput}`);
    await pause(100);
  }
}

/** Sends concurrent writes of all kinds until the crash. Returns the acknowledged writes. */
async function writeUntil(caller: Caller, trial: number, crash: () => Promise<unknown>): Promise<Written[]> {
  const customer = payerOf(trial);
  const post = (path: string, body: object): Promise<Reply> => caller.call("POST", path, { body });
  // Created before the writes, because the synchronous commit of a charge would also save the writes before it.
  const charges: string[] = [];
  const keys: string[] = [];
  for (let i = 0; i < 20; i++) {
    charges.push((await caller.consume(customer)).consumeId);
    const { text } = await post("api-keys", { name: "Leaked", scopes: ["check"] });
    keys.push(/"id":"?(\d+)/.exec(text)?.[1] ?? "");
  }
  /** Each write has a name, to find it after the crash. */
  const write: Record<Kind, (name: string, i: number) => { name: string; reply: Promise<Reply> } | null> = {
    topUp: (name) => {
      const body = { credits: 1, kind: "manual", reference: name };
      return { name, reply: post(`customers/${customer}/credits`, body) };
    },
    assignment: (name) => ({ name, reply: post(`customers/${name}/plan`, { plan: "pro" }) }),
    import: (name) => {
      const body = `customerId,credits,reference\n${name},5,${name}\n`;
      const headers = { "content-type": "text/csv" };
      return { name, reply: caller.call("POST", `imports?name=${name}`, { body, headers }) };
    },
    revocation: (_, i) => {
      const name = keys[i];
      return name === undefined ? null : { name, reply: post(`api-keys/${name}/revoke`, {}) };
    },
    reversal: (name, i) => {
      const path = `customers/${customer}/consumes/${charges[i]}/reverse`;
      return charges[i] === undefined ? null : { name, reply: post(path, { reference: name }) };
    },
  };
  const written: Written[] = [];
  let isOver = false;
  const writers = KINDS.map(async (kind) => {
    for (let i = 0; !isOver; i++) {
      const sent = write[kind](`${kind}-${trial}-${i}`.toLowerCase(), i);
      const reply = await sent?.reply.catch(() => null);
      if (sent !== null && reply) written.push({ kind, name: sent.name });
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
