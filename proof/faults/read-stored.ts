import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Stored } from "./check/stored.ts";

const QUIET_WITHIN_MS = 15_000;

/**
 * Reads all rows that a run left, once no other session is connected. Throws if they cannot all be read. If an
 * environment is given, reads only its rows.
 */
export async function readStored(url: string, environmentId: number | null = null): Promise<Stored> {
  const client = new pg.Client(url);
  // 64-bit integers arrive as text. They must not be rounded if a JavaScript number cannot represent them.
  client.setTypeParser(pg.types.builtins.INT8, toSafeInteger);
  client.on("error", () => {});
  await client.connect();
  try {
    await awaitNoSessions(client);
    await client.query("begin isolation level repeatable read read only");
    const { rows: environments } = await client.query(ENVIRONMENTS);
    if (environmentId === null && environments.length !== 1)
      throw new Error("the rows belong to more than one environment");
    const read = async <Row>({ columns, table, join = "", order = "" }: Table<Row>): Promise<Row[]> => {
      const list = Object.entries<string>(columns).map(([column, value]) => `${value} as "${column}"`);
      const alias = table.split(" ").at(-1);
      const where = environmentId === null ? "" : `where ${alias}.environment_id = ${environmentId}`;
      const { rows } = await client.query(
        `select ${list.join(", ")} from ${table} ${join} ${where} ${order}`,
      );
      const { rows: counted } = await client.query(`select count(*) as rows from ${table} ${where}`);
      if (rows.length === counted[0].rows) return rows;
      throw new Error(`${table} has ${counted[0].rows} rows, and ${rows.length} were read`);
    };
    const stored: Stored = {
      events: await read(TABLES.events),
      keys: await read(TABLES.keys),
      customers: await read(TABLES.customers),
      wallets: await read(TABLES.wallets),
      grants: await read(TABLES.grants),
      ledger: await read(TABLES.ledger),
      denials: await read(TABLES.denials),
      holdChanges: await read(TABLES.holdChanges),
      assignments: await read(TABLES.assignments),
      pools: await read(TABLES.pools),
      features: await read(TABLES.features),
      plans: await read(TABLES.plans),
      planVersions: await read(TABLES.planVersions),
    };
    await client.query("commit");
    return stored;
  } finally {
    await client.end();
  }
}

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${text} is beyond what a number holds`);
  return value;
}

/** The backend of a killed process may still be committing. This must end before the rows are read. */
async function awaitNoSessions(client: pg.Client): Promise<void> {
  const giveUpAtMs = performance.now() + QUIET_WITHIN_MS;
  for (;;) {
    const { rowCount } = await client.query(`
      select from pg_stat_activity
      where backend_type = 'client backend'
        and datname = current_database()
        and pid <> pg_backend_pid()`);
    if (rowCount === 0) return;
    if (performance.now() > giveUpAtMs) throw new Error("another session is still connected to the database");
    await pause(50);
  }
}

/** One table. Its alias is used in the column expressions. A join must return every row exactly once. */
type Table<Row> = {
  readonly table: string;
  readonly join?: string;
  readonly order?: string;
  readonly columns: Readonly<Record<keyof Row, string>>;
};

const milliseconds = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;
const featureOf = (alias: string): string =>
  `left join cell.features as f on f.environment_id = ${alias}.environment_id and f.id = ${alias}.feature_id`;

const TABLES: { readonly [Name in keyof Stored]: Table<Stored[Name][number]> } = {
  events: {
    table: "cell.events as e",
    join: "left join cell.customers as c on c.environment_id = e.environment_id and c.number = e.customer_number",
    columns: {
      id: "e.id::text",
      marker: "e.metadata ->> 'marker'",
      customerId: "c.customer_id",
      event: "e.event",
      quantity: "e.quantity",
      featureId: "e.feature_id",
    },
  },
  keys: {
    table: "cell.keyed_requests as k",
    columns: {
      key: "k.key",
      keyHash: "k.key_hash::text",
      endpoint: "k.endpoint",
      subjectId: "k.subject_id::text",
    },
  },
  customers: {
    table: "cell.customers as c",
    columns: { number: "c.number", customerId: "c.customer_id" },
  },
  wallets: {
    table: "cell.wallets as w",
    columns: {
      customer: "w.customer_number",
      sequence: "w.sequence",
      decidedAtMs: milliseconds("w.decided_at"),
      balance: "w.balance",
      state: "w.state",
    },
  },
  grants: {
    table: "cell.grants as g",
    columns: {
      customer: "g.customer_number",
      number: "g.number",
      pool: "g.pool_id",
      kind: "(array['allowance', 'purchase', 'manual', 'promotion'])[g.kind]",
      credits: "g.credits",
      expiresAtMs: milliseconds("g.expires_at"),
      mergedInto: "g.merged_into",
      isRevoked: "g.revoked_at is not null",
      reference: "g.reference",
    },
  },
  ledger: {
    table: "cell.ledger as l",
    join: featureOf("l"),
    columns: {
      customer: "l.customer_number",
      sequence: "l.sequence",
      recordedAtMs: milliseconds("l.recorded_at"),
      effectiveAtMs: milliseconds("coalesce(l.effective_at, l.recorded_at)"),
      kind: "(array['grant', 'consume', 'expire', 'revoke', 'reverse'])[l.kind]",
      pool: "l.pool_id",
      amount: "l.amount",
      balanceAfter: "l.balance_after",
      parts: "l.parts",
      feature: "f.key",
      quantity: "l.quantity",
      planVersion: "l.plan_version_id",
      assignment: "l.assignment_number",
      reverses: "l.reverses",
      item: "l.item",
      items: "l.items",
      hold: "l.hold_number",
      uncovered: "coalesce(l.uncovered, 0)",
      overage: "coalesce(l.overage, 0)",
      overageParts: "coalesce(l.overage_parts, '')",
      keyHash: "l.key_hash::text",
      // The first charge of a request has its metadata. If a charge has a member, the member is the marker, except for charges of a hold.
      // A client's reversal has the marker as its note.
      marker: `(
        select case when l.kind = 5 then f.metadata ->> 'note' when l.kind = 2 and l.hold_number is null and l.member_id <> f.metadata ->> 'marker' then l.member_id else f.metadata ->> 'marker' end
        from cell.ledger as f
        where f.customer_number = l.customer_number
          and f.recorded_at = l.recorded_at
          and f.sequence = l.sequence - case l.kind when 2 then coalesce(l.item, 0) else 0 end
      )`,
    },
  },
  denials: {
    table: "cell.denials as d",
    join: featureOf("d"),
    columns: {
      id: "d.id::text",
      customer: "d.customer_number",
      recordedAtMs: milliseconds("d.recorded_at"),
      sequence: "d.sequence",
      reason: `(array[
        'customer_blocked', 'customer_not_found', 'no_active_plan', 'feature_not_in_plan', 'limit_reached',
        'insufficient_credits'
      ])[d.reason]`,
      feature: "f.key",
      quantity: "d.quantity",
      item: "d.item",
      items: "d.items",
      creditsRequired: "d.credits_required",
      balance: "d.balance",
      limitQuantity: "d.limit_quantity",
      limitUsed: "d.limit_used",
      planVersion: "d.plan_version_id",
      keyHash: "d.key_hash::text",
      marker: "d.metadata ->> 'marker'",
    },
  },
  holdChanges: {
    table: "cell.hold_changes as h",
    columns: {
      customer: "h.customer_number",
      number: "h.number",
      hold: "h.hold_number",
      kind: "(array['opened', 'extended', 'settled', 'released', 'expired', 'charged', 'revoked'])[h.kind]",
      sequence: "h.sequence",
      recordedAtMs: milliseconds("h.recorded_at"),
      effectiveAtMs: milliseconds("h.effective_at"),
      openedAtMs: milliseconds("h.opened_at"),
      expiresAtMs: milliseconds("h.expires_at"),
      state: "h.state",
      keyHash: "h.key_hash::text",
      memberId: "h.member_id",
      marker: "h.metadata ->> 'marker'",
      answer: "h.answer",
    },
  },
  assignments: {
    table: "cell.assignments as a",
    order: "order by a.id",
    columns: {
      customer: "a.customer_number",
      recordedAtMs: milliseconds("a.recorded_at"),
      kind: "(array['started', 'resumed', 'extended', 'version_changed', 'ended', 'shortened', 'scheduled', 'unscheduled'])[a.change]",
      plan: "a.plan_id",
      anchorMs: milliseconds("a.anchor"),
      effectiveAtMs: milliseconds("a.effective_at"),
      isDefault: "a.is_default",
    },
  },
  pools: { table: "cell.pools as p", order: "order by p.id", columns: { id: "p.id", key: "p.key" } },
  features: { table: "cell.features as f", columns: { id: "f.id", key: "f.key", pool: "f.pool_id" } },
  plans: { table: "cell.plans as p", columns: { id: "p.id", key: "p.key" } },
  planVersions: { table: "cell.plan_versions as v", columns: { id: "v.id", plan: "v.plan_id" } },
};

const ENVIRONMENTS = [
  "customers",
  "wallets",
  "grants",
  "ledger",
  "denials",
  "hold_changes",
  "keyed_requests",
  "events",
]
  .map((table) => `select environment_id from cell.${table}`)
  .join(" union ");
