import type { Context } from "../../service/src/manage/context.ts";
import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import type { Pool } from "../../service/src/postgres/pool.ts";
import { brandAs, type CustomerId, type Instant } from "../../service/src/primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "../../service/src/store/cell/wallet-state.ts";
import { Caller } from "./caller.ts";
import { type Database, databaseAt, withPool } from "./database.ts";
import { FEATURE_NOT_IN_PLANS, type Installation, type PLANS, POOL, type Project } from "./project.ts";
import type { Service } from "./purser.ts";

export const BUSY = "busy";
const DENIALS = 2_000;
const TOP_UPS = 300;
const PLAN_CHANGES = 300;
const AT_ONCE = 20;

/** An installation in which to create customers. */
type Filled = Pick<Installation, "database" | "project"> & { readonly service: Service };

/** Creates customers who have the plan `wide` and have used nothing. */
export async function fillWithPlan(databaseUrl: string, context: Context, customers: number): Promise<void> {
  const customerId = brandAs<CustomerId>("customer_1");
  const assigned = await withPool(databaseUrl, (pool) =>
    assignPlan(pool, context, { customerId, plan: "wide", anchor: null }),
  );
  if (assigned.kind !== "changed") throw new Error(`could not assign the plan: ${assigned.kind}`);
  await copyCustomer(databaseAt(databaseUrl), context.environmentId, customers);
}

/**
 * Creates customers with nine ledger entries each. The first customer gets its entries through the service: a plan, two top-ups that are
 * merged into one grant, five consume requests and a reversal. The other customers are copies of the first.
 */
export async function fillCustomers(
  installation: Filled,
  plan: keyof typeof PLANS,
  customers: number,
): Promise<void> {
  const { database, project, service } = installation;
  const caller = new Caller(service, project);
  const customerId = brandAs<CustomerId>("customer_1");
  await withPool(database.url, async (pool) => {
    await assignPlan(pool, project.context, { customerId, plan, anchor: null });
    for (let i = 0; i < 2; i++) await topUp(pool, project, { customerId, kind: "manual", reference: null });
    const consumes: string[] = [];
    for (let i = 0; i < 5; i++) consumes.push((await caller.consume(customerId)).consumeId);
    await reverseConsume(pool, project.context, { consumeId: consumes[2] ?? "", quantity: null });
  });
  await copyCustomer(database, project.context.environmentId, customers);
}

/** Creates one customer with a long history of charges, denials, top-ups and plan changes. */
export async function makeBusyCustomer(installation: Filled, entries: number): Promise<void> {
  const { database, project, service } = installation;
  const { context } = project;
  const customerId = brandAs<CustomerId>(BUSY);
  await makeHotCustomer(installation, { customerId: BUSY, plan: "wide", entries });
  await withPool(database.url, async (pool) => {
    for (let i = 0; i < PLAN_CHANGES; i++)
      await assignPlan(pool, context, { customerId, plan: i % 2 === 0 ? "pro" : "wide", anchor: null });
    for (let i = 0; i < TOP_UPS; i++)
      await topUp(pool, project, { customerId, kind: "purchase", reference: `pay_${i}` });
  });
  const caller = new Caller(service, project);
  for (let i = 0; i < DENIALS; i += AT_ONCE) {
    const deny = (): Promise<unknown> => caller.consume(BUSY, { feature: FEATURE_NOT_IN_PLANS });
    await Promise.all(Array.from({ length: AT_ONCE }, deny));
  }
}

/** Creates one customer with this many ledger entries, nearly all of them charges. */
export async function makeHotCustomer(
  { database, service, project }: Filled,
  hot: { readonly customerId: string; readonly plan: keyof typeof PLANS; readonly entries: number },
): Promise<void> {
  const customerId = brandAs<CustomerId>(hot.customerId);
  const { context } = project;
  await withPool(database.url, (pool) =>
    assignPlan(pool, context, { customerId, plan: hot.plan, anchor: null }),
  );
  await new Caller(service, project).consume(customerId);
  await copyLastConsume(database, { ...hot, environmentId: context.environmentId });
}

function topUp(
  pool: Pool,
  { context }: Project,
  {
    customerId,
    kind,
    reference,
  }: { customerId: CustomerId; kind: "manual" | "purchase"; reference: string | null },
): Promise<unknown> {
  const credits = { pool: POOL, kind, credits: 50, expiresAt: null, reference, price: null, note: null };
  return addCredits(pool, context, { customerId, ...credits });
}

/** Tables to copy for each customer. Their rows are numbered per customer, so they can be copied unchanged. */
const TABLES = ["wallets", "grants", "assignments", "ledger"];

/** Customers per transaction. The roll-up job can process the rows of about this many customers in one step. */
const COPIED_AT_ONCE = 2_000;

/** Creates `customer_2` and so on as copies of `customer_1`. */
async function copyCustomer(
  database: Pick<Database, "query">,
  environmentId: number,
  customers: number,
): Promise<void> {
  for (let first = 2; first <= customers; first += COPIED_AT_ONCE)
    await copyCustomers(database, environmentId, first, Math.min(first + COPIED_AT_ONCE - 1, customers));
}

async function copyCustomers(
  database: Pick<Database, "query">,
  environmentId: number,
  first: number,
  last: number,
): Promise<void> {
  const [range = {}] = await database.query(
    `with added as (
       insert into cell.customers (environment_id, customer_id, created_at)
       select c.environment_id, 'customer_' || n, c.created_at
       from cell.customers as c, generate_series(${first}, ${last}) as n
       where c.environment_id = ${environmentId} and c.customer_id = 'customer_1'
       order by n
       returning number
     )
     select min(number) as first, max(number) as last from added`,
  );
  for (const table of TABLES) {
    const columns = await listCopiedColumns(database, table);
    await database.query(
      `insert into cell.${table} (customer_number, ${columns.join(", ")})
       select c.number, ${columns.map((column) => `t.${column}`).join(", ")}
       from cell.customers as first
       join cell.${table} as t on t.environment_id = first.environment_id and t.customer_number = first.number
       join cell.customers as c on c.environment_id = first.environment_id
       where first.environment_id = ${environmentId} and first.customer_id = 'customer_1'
         and c.number >= ${range["first"]} and c.number <= ${range["last"]}
       order by c.number`,
    );
  }
}

export async function listCopiedColumns(database: Pick<Database, "query">, table: string): Promise<string[]> {
  const rows = await database.query(
    `select column_name
     from information_schema.columns
     where table_schema = 'cell'
       and table_name = '${table}'
       and is_identity = 'NO'
       -- Set by the transaction that inserts the copy.
       and column_name not in ('customer_number', 'transaction_number')`,
  );
  return rows.map((row) => String(row["column_name"]));
}

/** Copies a customer's last charge until the ledger has this many entries, and updates the wallet. */
async function copyLastConsume(
  database: Database,
  { environmentId, customerId, entries }: { environmentId: number; customerId: string; entries: number },
): Promise<void> {
  const [row = {}] = await database.query(
    `select w.customer_number, w.sequence, w.state
     from cell.customers as c
     join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
     where c.environment_id = $1 and c.customer_id = $2`,
    [environmentId, customerId],
  );
  const number = Number(row["customer_number"]);
  const sequence = Number(row["sequence"]);
  const copies = entries - sequence;
  const [last = {}] = await database.query(
    `insert into cell.ledger (
       recorded_at, customer_number, sequence, amount, balance_after, effective_at, environment_id, pool_id, feature_id,
       quantity, plan_version_id, assignment_number, kind, parts
     )
     select
       e.recorded_at, e.customer_number, e.sequence + n, e.amount, e.balance_after + n * e.amount, e.effective_at,
       e.environment_id, e.pool_id, e.feature_id, e.quantity, e.plan_version_id, e.assignment_number, e.kind, e.parts
     from cell.ledger as e, generate_series(1, ${copies}) as n
     where e.customer_number = ${number} and e.sequence = ${sequence} and e.kind = 2
     order by n
     returning amount, quantity`,
  );
  const amount = copies * Number(last["amount"]);
  const quantity = copies * Number(last["quantity"]);
  const known = { sequence, decidedAt: brandAs<Instant>(0), isBlocked: false };
  const wallet = decodeWalletState(String(row["state"]), known);
  const { assignment } = wallet;
  const state = encodeWalletState({
    ...wallet,
    grants: wallet.grants.map((grant) => ({ ...grant, remaining: grant.remaining + amount })),
    assignment: assignment && {
      ...assignment,
      counters: assignment.counters.map((counter) => ({ ...counter, used: counter.used + quantity })),
    },
  });
  await database.query(
    `update cell.wallets
     set sequence = $1, balance = balance + $2, state = $3
     where environment_id = $4 and customer_number = $5`,
    [entries, amount, state, environmentId, number],
  );
}
