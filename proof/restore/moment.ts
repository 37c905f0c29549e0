import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Call, ManageCall } from "../faults/history.ts";
import { type Database, databaseAt, withClient } from "../harness/database.ts";

/** A time of the database's clock, and the times of this process right before and after it was read. */
export type Moment = { readonly at: string; readonly beforeMs: number; readonly afterMs: number };

const SAMPLE_MS = 50;
/** A commit gets its timestamp before its WAL position, so a commit this close to a moment may be on either side of the moment. */
const QUIET_MS_MIN = 1;
const TABLES = ["ledger", "events", "denials", "keyed_requests"] as const;

/** Reads the clock repeatedly for a few seconds. */
export function sampleMoments(url: string, seconds: number): Promise<Moment[]> {
  return withClient(url, async (client) => {
    const moments: Moment[] = [];
    const endMs = performance.now() + seconds * 1_000;
    while (performance.now() < endMs) {
      const beforeMs = performance.now();
      const { rows } = await client.query("select clock_timestamp()::text as at");
      moments.push({ at: rows[0].at, beforeMs, afterMs: performance.now() });
      await pause(SAMPLE_MS);
    }
    return moments;
  });
}

/** Chooses the moment in the second half that is farthest from any commit, so that it is certain which commits precede the moment. */
export async function chooseMoment(database: Database, moments: readonly Moment[]): Promise<Moment> {
  const [row] = await database.query(
    `with commits as (
       select distinct pg_xact_commit_timestamp(xmin) as at
       from (
         select xmin, recorded_at from cell.ledger
         union all select xmin, recorded_at from cell.events
         union all select xmin, recorded_at from cell.denials
       ) as written
       where recorded_at > $1::timestamptz - interval '1 minute'
     )
     select m.at::text as at, min(abs(extract(epoch from c.at - m.at))) * 1000 as quiet_ms
     from unnest($2::timestamptz[]) as m (at)
     cross join commits as c
     group by m.at
     order by quiet_ms desc
     limit 1`,
    [moments[0]?.at, moments.slice(moments.length / 2).map(({ at }) => at)],
  );
  const chosen = moments.find(({ at }) => at === row?.["at"]);
  const isQuiet = Number(row?.["quiet_ms"]) >= QUIET_MS_MIN;
  if (chosen === undefined || !isQuiet) throw new Error(`no moment is ${QUIET_MS_MIN} ms from every commit`);
  return chosen;
}

export type Totals = Readonly<Record<string, string>>;

/** Row count and content hash of each append-only table, and the credits of the ledger. */
export async function readTotals(
  query: (text: string, values: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>,
  until: string | null = null,
): Promise<Totals> {
  const totals: Record<string, string> = {};
  for (const table of TABLES) {
    const where = until === null ? "" : "where pg_xact_commit_timestamp(t.xmin) <= $1::timestamptz";
    const { rows } = await query(
      `select count(*)::text as rows, sum(hashtextextended(t::text, 0)::numeric)::text as hash,
         ${table === "ledger" ? "sum(t.amount)::text" : "null"} as credits
       from cell.${table} as t
       ${where}`,
      until === null ? [] : [until],
    );
    for (const [name, value] of Object.entries(rows[0] ?? {}))
      if (value !== null) totals[`${table} ${name}`] = String(value);
  }
  return totals;
}

/** The totals of a database: of all rows, or of rows committed until a given time. */
export function totalsOf(url: string, until: string | null = null): Promise<Totals> {
  return withClient(url, (client) => readTotals((text, values) => client.query(text, values), until));
}

/** Exports a snapshot for pg_dump. It stays valid during the client's transaction. Returns its moment too. */
export async function exportSnapshot(client: pg.Client): Promise<Moment & { readonly snapshot: string }> {
  const beforeMs = performance.now();
  await client.query("begin isolation level repeatable read read only");
  const { rows } = await client.query(
    "select pg_export_snapshot() as snapshot, clock_timestamp()::text as at",
  );
  return { ...rows[0], beforeMs, afterMs: performance.now() };
}

/** Cuts the history at a moment: calls that were open then get an unknown outcome, and later calls are removed. */
export function cutHistory(
  { calls, manageCalls }: { readonly calls: readonly Call[]; readonly manageCalls: readonly ManageCall[] },
  { beforeMs, afterMs }: Moment,
): { calls: Call[]; manageCalls: ManageCall[] } {
  const cut = <Kind extends { startMs: number; endMs: number; outcome: unknown }>(
    all: readonly Kind[],
    outcome: Kind["outcome"],
  ): Kind[] =>
    all
      .filter(({ startMs }) => startMs < afterMs)
      .map((call) => (call.endMs <= beforeMs ? call : { ...call, outcome }));
  return {
    calls: cut(calls, { kind: "info", status: 503, reason: "outcome_unknown" }),
    manageCalls: cut(manageCalls, { kind: "unknown", reason: "the backup was taken" }),
  };
}

/** Waits until the usage roll-ups include everything recorded so far. */
export async function awaitRollUps(url: string, secondsMax: number): Promise<void> {
  const database = databaseAt(url);
  const [now] = await database.query("select clock_timestamp()::text as at");
  for (let waited = 0; waited < secondsMax; waited++) {
    const [row] = await database.query(
      "select complete_to > $1::timestamptz as is_done from cell.usage_progress",
      [now?.["at"]],
    );
    if (row?.["is_done"] === true) return;
    await pause(1_000);
  }
  throw new Error(`the usage roll-ups were not complete within ${secondsMax} s`);
}
