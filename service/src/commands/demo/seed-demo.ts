import type { Pool } from "../../postgres/pool.ts";
import { Session } from "../../postgres/session.ts";
import { statement } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerId,
  type EnvironmentId,
  type Instant,
  type ProjectId,
} from "../../primitives/brand.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { ensurePartitions } from "../../store/cell/partitions.ts";
import { findLiveApiKeys } from "../../store/control/api-keys.ts";
import { type Act, FIRST_DAY, timeOn } from "./act.ts";
import { openChance } from "./chance.ts";
import { COMPANIES, type Company, RICH_COMPANY } from "./companies.ts";
import { liveCompany } from "./company-life.ts";
import { sellDemoCatalog } from "./demo-catalog.ts";
import type { Moment, World } from "./moment.ts";
import { simulate } from "./simulate.ts";
import { type NewCustomer, writeCustomers, writeMoments, writeRequestLog } from "./write.ts";

const LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const ANALYZE = statement("demo.analyze", "analyze cell.events, cell.ledger, cell.grants");

/**
 * Inserts a demo product: catalog, customers and two months of history. Returns false if the environment already has a catalog.
 * The user is waiting for the first start, so this uses a lane's session, which pipelines the thousands of statements.
 */
export async function seedDemo(
  databaseUrl: string,
  where: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
): Promise<boolean> {
  const actor = { kind: "command", id: "purser dev", requestId: null } as const;
  const session = await Session.open({ url: databaseUrl, name: "command", connectTimeoutMs: 5_000 });
  try {
    const now = await readClock(session);
    const lives = COMPANIES.map((company) => ({
      customer: toCustomer(company, where.environmentId),
      acts: liveCompany(company, now),
    }));
    await session.begin();
    await ensurePartitions(session, { monthsBack: 3, monthsAhead: 3 });
    const publishedAt = timeOn(now, FIRST_DAY + 2, "10:00");
    const catalog = await sellDemoCatalog(session, { ...where, actor }, publishedAt);
    if (catalog !== null) {
      const moments = await writeLives(session, { projectId: where.projectId, catalog }, lives);
      await writeRequestLog(session, moments, now);
    }
    await session.commit();
    // The size estimate of an export needs statistics, and autovacuum takes up to a minute.
    if (catalog !== null) await session.run(ANALYZE);
    return catalog !== null;
  } finally {
    session.destroy();
  }
}

type Life = { readonly customer: Omit<NewCustomer, "createdAt">; readonly acts: readonly Act[] };

async function writeLives(session: Session, world: World, lives: readonly Life[]): Promise<Moment[]> {
  const all: Moment[] = [];
  const newCustomers = lives.map(({ customer, acts }) => ({ ...customer, createdAt: beginningOf(acts) }));
  // Numbers follow the order of the insert, and lists of the newest customers follow the numbers.
  const customers = await writeCustomers(
    session,
    newCustomers.toSorted((a, b) => a.createdAt - b.createdAt),
  );
  for (const { customer, acts } of lives) {
    const known = customers.get(customer.customerId);
    assert(known !== undefined, "an inserted customer is found");
    const moments = simulate(world, known, acts);
    await writeMoments(session, known, moments);
    all.push(...moments);
  }
  return all;
}

function toCustomer(
  { id, seed: number, name, email, plans }: Company,
  environmentId: EnvironmentId,
): Omit<NewCustomer, "createdAt"> {
  const billingReference =
    plans.length === 0 ? null : `cus_${openChance(-number).word(LETTERS_AND_DIGITS, 14)}`;
  return { environmentId, customerId: brandAs<CustomerId>(id), name, email, billingReference };
}

function beginningOf(acts: readonly Act[]): Instant {
  const [first] = acts;
  assert(first !== undefined, "a company has at least one act");
  return first.at;
}

/** The feature that the printed `curl` command charges. */
export const DEMO_FEATURE = "image.generate";

/** A demo customer with credits, or null if the environment has no demo. */
export async function findDemoCustomer(pool: Pool, testKey: string): Promise<CustomerId | null> {
  const key = (await single(pool, (tx) => findLiveApiKeys(tx, [hashSecret(testKey)]))).get(0);
  if (key === undefined) return null;
  const name = { environmentId: key.environmentId, customerId: brandAs<CustomerId>(RICH_COMPANY) };
  const [customer] = await single(pool, (tx) => findCustomers(tx, [name]));
  return customer?.customerId ?? null;
}
