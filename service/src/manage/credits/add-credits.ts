import { type CreditsOutcome, addCredits as decideCredits } from "../../entitlement/add-credits.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, type GrantKind } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { findGrantByReference, type GrantOrigin, type ReferencedGrant } from "../../store/cell/grants.ts";
import type { CustomerId, CustomerNumber, Instant, PoolId } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import type { Context } from "../context.ts";
import {
  auditCustomer,
  type OpenWallet,
  openOrCreateWallet,
  saveChange,
  summarize,
  summarizeBefore,
} from "../customers/open-wallet.ts";
import { walletTransaction } from "../customers/wallet-transaction.ts";
import { ensureFirstPool } from "../edit-catalog.ts";

export type AddCreditsInput = GrantOrigin & {
  readonly customerId: CustomerId;
  /** The pool's key. */
  readonly pool: string;
  readonly kind: Exclude<GrantKind, "allowance">;
  readonly credits: number;
  readonly expiresAt: Instant | null;
};

export type AddCreditsOutcome =
  | { kind: "added"; grant: number; balanceBefore: number; balanceAfter: number }
  /** The reference names this very grant already: nothing was added again. */
  | { kind: "already_added"; grant: number; balance: number }
  | { kind: "reference_reused" }
  | { kind: "pool_not_found" }
  | Exclude<CreditsOutcome, { kind: "added" }>;

/**
 * Spec 3: credits are additive, and whoever repeats this adds again. A reference, a payment's id say, makes it safe to
 * repeat: the same one with the same customer and amount adds once.
 */
export async function addCredits(
  cell: Pool,
  context: Context,
  input: AddCreditsInput,
): Promise<AddCreditsOutcome> {
  try {
    return await addOnce(cell, context, input);
  } catch (error) {
    const failure = decodeSqlError(error);
    const isTwin = failure.kind === "conflict" && failure.constraint === "grants_reference_key";
    if (!isTwin) throw error;
    // Another one under this reference was first; now it can be seen.
    return addOnce(cell, context, input);
  }
}

function addOnce(cell: Pool, context: Context, input: AddCreditsInput): Promise<AddCreditsOutcome> {
  return walletTransaction<AddCreditsOutcome>(
    cell,
    context,
    input.customerId,
    async (tx) => {
      if (input.pool === FIRST_POOL.key) await ensureFirstPool(tx, context);
      const open = await openOrCreateWallet(tx, context, input.customerId);
      const pool = [...open.catalog.pools.values()].find(({ key }) => key === input.pool);
      if (pool === undefined) return { kind: "pool_not_found" };
      const earlier = await findEarlier(tx, open, input, pool.id);
      if (earlier !== null) return earlier;
      return add(tx, context, open, input, pool.id);
    },
    // What was added before is acknowledged again, so it must be as durable again: the wallet's lock is committed.
    ({ kind }) => kind === "added" || kind === "already_added",
  );
}

async function findEarlier(
  tx: Tx,
  { environmentId, customerNumber, wallet, catalog, clock }: OpenWallet,
  { reference, credits, kind }: AddCreditsInput,
  pool: PoolId,
): Promise<AddCreditsOutcome | null> {
  if (reference === null) return null;
  const earlier = await findGrantByReference(tx, environmentId, reference);
  if (earlier === null) return null;
  const isSame = isSameGrant(earlier, { customerNumber, kind, credits, pool });
  if (!isSame) return { kind: "reference_reused" };
  const balance = balanceOf(viewWallet(catalog, wallet, clock), pool);
  return { kind: "already_added", grant: earlier.number, balance };
}

type Given = Pick<ReferencedGrant, "kind" | "credits" | "pool"> & {
  /** Null: nobody knows them yet. */
  readonly customerNumber: CustomerNumber | null;
};

/** Whether who asks for these credits under a reference asks for the ones that it names already. */
export function isSameGrant(earlier: Given, asked: Given): boolean {
  return (
    earlier.customerNumber === asked.customerNumber &&
    earlier.credits === asked.credits &&
    earlier.pool === asked.pool &&
    earlier.kind === asked.kind
  );
}

async function add(
  tx: Tx,
  context: Context,
  open: OpenWallet,
  input: AddCreditsInput,
  pool: PoolId,
): Promise<AddCreditsOutcome> {
  const { kind, credits, expiresAt, reference, price, note } = input;
  const outcome = decideCredits(open.catalog, open.wallet, { pool, kind, credits, expiresAt }, open.clock);
  if (outcome.kind !== "added") return outcome;
  const { change, grant } = outcome;
  await saveChange(tx, open, change, {
    grant: { number: grant.number, origin: { reference, price, note } },
  });
  const until = expiresAt === null ? null : formatTimestamp(expiresAt);
  await auditCustomer(tx, context, open, {
    action: "credits.added",
    subject: `grant ${grant.number}`,
    before: summarizeBefore(open),
    // Reference and note stand on the grant, from where they can be erased.
    after: { ...summarize(change.wallet, open.catalog), kind, credits, expiresAt: until, price },
  });
  const balanceAfter = balanceOf(change.wallet, pool);
  return { kind: "added", grant: grant.number, balanceBefore: balanceAfter - credits, balanceAfter };
}
