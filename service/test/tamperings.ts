import type { Assignment, Wallet } from "../src/entitlement/wallet.ts";
import { brandAs, type Instant } from "../src/primitives/brand.ts";
import { decodeWalletState, encodeWalletState } from "../src/store/cell/wallet-state.ts";
import type { TestDatabase } from "./harness.ts";

/** A change to the tables of `liveBusyLives` that bypasses the service. */
export type Tampering = {
  readonly name: string;
  /** A text that the command's report must contain. The default is "ada". */
  readonly names?: string;
  tamper(database: TestDatabase): Promise<unknown>;
};

const ADA = "(select number from cell.customers where customer_id = 'ada')";
const OF_ADA = `customer_number = ${ADA}`;
const ANY_CONSUME = `${OF_ADA} and sequence = (select min(sequence) from cell.ledger where ${OF_ADA} and amount < 0 and kind = 2)`;
const LAST_ENTRY = `${OF_ADA} and sequence = (select sequence from cell.wallets where ${OF_ADA})`;
const COLUMNS =
  "environment_id, customer_number, amount, balance_after, pool_id, feature_id, quantity, plan_version_id, assignment_number, kind, parts";

const LEDGER: readonly Tampering[] = [
  entry(
    "a balance after an entry",
    `update cell.ledger set balance_after = balance_after + 1 where ${ANY_CONSUME}`,
  ),
  entry("an amount", `update cell.ledger set amount = amount - 1 where ${ANY_CONSUME}`),
  entry(
    "an amount with its parts",
    `update cell.ledger set amount = -9, parts = '1:-9' where ${ANY_CONSUME}`,
  ),
  entry(
    "an amount beyond 53 bits",
    `update cell.ledger set amount = -(2::bigint ^ 60)::bigint where ${ANY_CONSUME}`,
  ),
  entry(
    "the grant that paid",
    `update cell.ledger set parts = replace(parts, '1:', '2:') where ${ANY_CONSUME}`,
  ),
  entry("unreadable parts", `update cell.ledger set parts = 'all of it' where ${ANY_CONSUME}`),
  entry("a charged quantity", `update cell.ledger set quantity = 2 where ${ANY_CONSUME}`),
  entry("a feature", `update cell.ledger set feature_id = 4 where ${ANY_CONSUME}`),
  entry("a consume without a feature", `update cell.ledger set feature_id = null where ${ANY_CONSUME}`),
  entry("an entry in another environment", `update cell.ledger set environment_id = 99 where ${ANY_CONSUME}`),
  entry("an entry deleted", `delete from cell.ledger where ${ANY_CONSUME}`),
  entry("the last entry deleted", `delete from cell.ledger where ${LAST_ENTRY}`),
  entry(
    "a duplicate entry",
    `insert into cell.ledger (recorded_at, sequence, ${COLUMNS})
     select recorded_at + interval '1 ms', sequence, ${COLUMNS} from cell.ledger where ${ANY_CONSUME}`,
  ),
  entry(
    "an entry beyond the wallet's sequence",
    `insert into cell.ledger (recorded_at, sequence, ${COLUMNS})
     select recorded_at, sequence + 1, ${COLUMNS} from cell.ledger where ${LAST_ENTRY}`,
  ),
  entry(
    "a reversal of more than was charged",
    `update cell.ledger set quantity = 1501 where ${OF_ADA} and kind = 5 and quantity = 500`,
  ),
  entry(
    "a reversal that records less than it returned",
    `update cell.ledger set quantity = 100 where ${OF_ADA} and kind = 5 and quantity = 500`,
  ),
  entry(
    "a charge that belongs to no request",
    `update cell.ledger set item = 1, items = 2 where ${ANY_CONSUME}`,
  ),
  entry(
    "a request without its last charge",
    `update cell.ledger set item = 0, items = 2 where ${ANY_CONSUME}`,
  ),
  entry("a reversal of the wrong entry", `update cell.ledger set reverses = 1 where ${OF_ADA} and kind = 5`),
  entry("all of a ledger deleted", `delete from cell.ledger where ${OF_ADA}`),
];

const GRANTS: readonly Tampering[] = [
  entry("a grant deleted", `delete from cell.grants where ${OF_ADA} and number = 3`),
  entry("the last grant deleted", `delete from cell.grants where ${OF_ADA} and number = 5`),
  entry("a grant's credits", `update cell.grants set credits = credits + 1 where ${OF_ADA} and number = 2`),
  entry(
    "an allowance's credits",
    `update cell.grants set credits = credits + 1 where ${OF_ADA} and number = 1`,
  ),
  entry("a grant's kind", `update cell.grants set kind = 4 where ${OF_ADA} and number = 2`),
  entry("a grant's pool", `update cell.grants set pool_id = 99 where ${OF_ADA} and number = 2`),
  entry(
    "a grant's expiry",
    `update cell.grants set expires_at = effective_at + interval '1 year' where ${OF_ADA} and number = 2`,
  ),
  entry(
    "the target of a merged grant",
    `update cell.grants set merged_into = null where ${OF_ADA} and number = 3`,
  ),
  entry(
    "a revocation without an entry",
    `update cell.grants set revoked_at = now() - interval '2 minutes' where ${OF_ADA} and number = 2`,
  ),
  entry(
    "a grant without an entry",
    `insert into cell.grants (environment_id, customer_number, number, pool_id, kind, credits, recorded_at, effective_at)
     select environment_id, customer_number, 6, pool_id, 3, 10, recorded_at, effective_at
     from cell.grants where ${OF_ADA} and number = 1`,
  ),
];

const OVERRIDES: readonly Tampering[] = [
  entry("overrides deleted", `delete from cell.overrides where ${OF_ADA} and number = 1`),
  entry("the last overrides deleted", `delete from cell.overrides where ${OF_ADA} and number = 3`),
  entry(
    "an overridden cost",
    `update cell.overrides set terms = replace(terms, '[2,1]', '[3,1]') where ${OF_ADA} and number = 3`,
  ),
  entry("unreadable overrides", `update cell.overrides set terms = '{}' where ${OF_ADA} and number = 3`),
  entry(
    "the time of overrides",
    `update cell.overrides set effective_at = effective_at + interval '1 hour' where ${OF_ADA} and number = 1`,
  ),
  entry(
    "overrides that had already ended",
    `update cell.overrides set ends_at = effective_at + interval '1 microsecond' where ${OF_ADA} and number = 3`,
  ),
  entry(
    "the overrides of a charge removed",
    `update cell.ledger set overrides_number = null where ${OF_ADA} and overrides_number = 3`,
  ),
  entry(
    "the wrong overrides of a charge",
    `update cell.ledger set overrides_number = 1 where ${OF_ADA} and overrides_number = 3`,
  ),
  entry(
    "overrides that the wallet does not count",
    `insert into cell.overrides (environment_id, customer_number, number, effective_at, recorded_at, terms)
     select environment_id, customer_number, 4, effective_at, recorded_at, terms
     from cell.overrides where ${OF_ADA} and number = 3`,
  ),
  wallet("a count of the overrides removed", (found) => ({ ...found, ownCounters: [] })),
  wallet("a duplicate count of the overrides", (found) => ({
    ...found,
    ownCounters: found.ownCounters.flatMap((counter) => [
      { ...counter, used: 0, fromSequence: found.sequence + 1 },
      counter,
    ]),
  })),
  wallet("a count of the overrides lowered", (found) => ({
    ...found,
    ownCounters: found.ownCounters.map((counter) => ({ ...counter, used: counter.used - 1 })),
  })),
  wallet("overrides dropped from the wallet", (found) => ({ ...found, overrides: null })),
  wallet("different terms in the wallet", (found) => ({
    ...found,
    overrides: found.overrides && { ...found.overrides, features: [] },
  })),
];

const WALLETS: readonly Tampering[] = [
  entry("the balance column", `update cell.wallets set balance = balance + 1 where ${OF_ADA}`),
  entry("the wallet's sequence", `update cell.wallets set sequence = sequence + 1 where ${OF_ADA}`),
  entry("the largest sequence", `update cell.wallets set sequence = 9007199254740991 where ${OF_ADA}`),
  entry("a wallet that cannot be read", `update cell.wallets set state = '{}' where ${OF_ADA}`),
  wallet("credits added to the wallet", (found) => ({ ...found, grants: withMore(found.grants, 1) })),
  wallet("a duplicate grant", (found) => ({ ...found, grants: [...found.grants, ...found.grants] })),
  wallet("grants in another order", (found) => ({ ...found, grants: found.grants.toReversed() })),
  wallet("a grant that never expires", (found) => ({
    ...found,
    grants: found.grants.map((grant) => ({ ...grant, expiresAt: null, kind: "purchase" as const })),
  })),
  wallet("a count of grants", (found) => ({ ...found, grantCount: found.grantCount - 1 })),
  wallet("the use of a limit lowered", (found) => ({
    ...found,
    assignment: withPlan(found.assignment, ({ counters, ...plan }) => ({
      ...plan,
      counters: counters.map((counter) => ({ ...counter, used: counter.used - 1 })),
    })),
  })),
  wallet("a limit's counter dropped", (found) => ({
    ...found,
    assignment: withPlan(found.assignment, (plan) => ({ ...plan, counters: [] })),
  })),
  wallet("a limit's counter restarted", (found) => ({
    ...found,
    assignment: withPlan(found.assignment, ({ counters, ...plan }) => ({
      ...plan,
      counters: counters.map((counter) => ({ ...counter, used: 1, fromSequence: found.sequence })),
    })),
  })),
  wallet("the initial credits of an allowance", (found) => ({
    ...found,
    assignment: withPlan(found.assignment, ({ allowances, ...plan }) => ({
      ...plan,
      allowances: allowances.map((allowance) => ({ ...allowance, base: allowance.base + 1 })),
    })),
  })),
  wallet("the credits of a paused plan", (found) => ({
    ...found,
    paused: found.paused.map(({ grants, ...plan }) => ({ ...plan, grants: withMore(grants, 1) })),
  })),
];

const ORPHANS: readonly Tampering[] = [
  entry("a customer without a wallet", `delete from cell.wallets where ${OF_ADA}`),
  {
    name: "a wallet without a customer",
    names: "customer number ",
    tamper: (database) => database.query("delete from cell.customers where customer_id = 'ada'"),
  },
  {
    name: "a ledger without a wallet",
    names: "there are ledger entries without a wallet",
    tamper: (database) => leaveOnly(database, ["grants", "overrides"]),
  },
  {
    name: "grants without a wallet",
    names: "there are grants without a wallet",
    tamper: (database) => leaveOnly(database, ["ledger", "overrides"]),
  },
  {
    name: "overrides without a wallet",
    names: "there are overrides without a wallet",
    tamper: (database) => leaveOnly(database, ["ledger", "grants"]),
  },
];

export const TAMPERINGS: readonly Tampering[] = [...LEDGER, ...GRANTS, ...OVERRIDES, ...WALLETS, ...ORPHANS];

/** Changes rows with one statement. Throws if it changes none. */
function entry(name: string, statement: string): Tampering {
  return {
    name,
    async tamper(database) {
      const changed = await database.query(`${statement} returning 1`);
      if (changed.length === 0) throw new Error(`the tampering changed nothing: ${name}`);
    },
  };
}

/** Rewrites ada's wallet and its balance column. */
function wallet(name: string, change: (wallet: Wallet) => Wallet): Tampering {
  return {
    name,
    async tamper(database) {
      const [row = {}] = await database.query(`select sequence, state from cell.wallets where ${OF_ADA}`);
      const before = String(row["state"]);
      const rest = { decidedAt: brandAs<Instant>(0), isBlocked: false };
      const changed = change(decodeWalletState(before, { sequence: Number(row["sequence"]), ...rest }));
      const state = encodeWalletState(changed);
      if (state === before) throw new Error(`the tampering changed nothing: ${name}`);
      const balance = changed.grants.reduce((sum, { remaining }) => sum + remaining, 0);
      await database.query(`update cell.wallets set state = $1, balance = $2 where ${OF_ADA}`, [
        state,
        balance,
      ]);
    },
  };
}

function withMore<T extends { readonly remaining: number }>(grants: readonly T[], more: number): T[] {
  return grants.map((grant) => ({ ...grant, remaining: grant.remaining + more }));
}

function withPlan(plan: Assignment | null, change: (plan: Assignment) => Assignment): Assignment | null {
  return plan === null ? null : change(plan);
}

/** Deletes ada, ada's wallet and ada's rows in the given tables. */
async function leaveOnly(database: TestDatabase, without: readonly string[]): Promise<void> {
  for (const table of [...without, "wallets"])
    await database.query(`delete from cell.${table} where ${OF_ADA}`);
  await database.query("delete from cell.customers where customer_id = 'ada'");
}
