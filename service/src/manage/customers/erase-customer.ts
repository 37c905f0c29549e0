import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type Instant } from "../../primitives/brand.ts";
import { areWritersUnderWay, readClock } from "../../store/cell/clock.ts";
import {
  type DoomedCustomer,
  eraseWordsOfGrants,
  forgetCustomer,
  hideCustomer,
  listHiddenCustomers,
  readCreatedAt,
} from "../../store/cell/erase/customers.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { saveEdits } from "../../store/cell/wallet-changes.ts";
import { blockWallet } from "../../store/cell/wallets.ts";
import type { Context } from "../context.ts";
import { walletTransaction } from "../wallet-transaction.ts";
import { sweepTraces } from "./sweep-traces.ts";

export type EraseOutcome = { kind: "erased"; rows: number } | { kind: "customer_not_found" };

type Input = { readonly customerId: CustomerId };

/** Between what a batch took for now and what else it wrote down as such there are seconds at most. */
const MARGIN_MS = 60_000;
const WRITERS_END_MS = 12_000;

/**
 * Forgets a person: the caller's id, name, email, billing reference, and whatever else was written about them: metadata,
 * notes, references, the text of idempotency keys. Amounts stay, under a number that leads to nobody. Whatever interrupts
 * it, it can be asked again under the same id, and goes on: until the last trace is gone, the row has a hash of that id.
 */
export async function eraseCustomer(cell: Pool, context: Context, input: Input): Promise<EraseOutcome> {
  const startedAt = await single(cell, readClock);
  const doomed = await block(cell, context, input);
  let rows = 0;
  let fromSequence = 0;
  if (doomed !== null) {
    // Nearly all of it while the id still stands, so that the id is gone only when little is left to do.
    const swept = await sweepTraces(cell, context, doomed, {
      fromSequence,
      since: earlier(doomed.createdAt),
    });
    rows += swept.rows;
    fromSequence = swept.lastSequence;
    await hide(cell, context, input);
  }
  const { environmentId } = context;
  const hidden = await single(cell, (tx) => listHiddenCustomers(tx, { environmentId, ...input }));
  if (doomed === null && hidden.length === 0) return { kind: "customer_not_found" };
  await letWritersEnd(cell);
  for (const customer of hidden) {
    const isSwept = customer.customerNumber === doomed?.customerNumber;
    const rest = isSwept
      ? { fromSequence, since: earlier(startedAt) }
      : { fromSequence: 0, since: earlier(customer.createdAt) };
    rows += (await sweepTraces(cell, context, customer, rest)).rows;
    await transaction(cell, (tx) => forgetCustomer(tx, customer));
  }
  return { kind: "erased", rows };
}

/** Whoever is blocked is not charged any more, and so leaves fewer traces meanwhile. */
function block(cell: Pool, context: Context, { customerId }: Input): Promise<DoomedCustomer | null> {
  return walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    if (open === null) return null;
    if (!open.wallet.isBlocked) {
      await blockWallet(tx, open, true);
      const [before, after] = [{ isBlocked: false }, { isBlocked: true }];
      const audit = { action: "customer.blocked", subject: "customer", before, after };
      await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
    }
    const { environmentId, customerNumber } = open;
    return { environmentId, customerNumber, createdAt: await readCreatedAt(tx, open) };
  });
}

/** Under the wallet's lock: an operation that waits for it finds nobody afterwards, and writes nothing. */
async function hide(cell: Pool, context: Context, { customerId }: Input): Promise<void> {
  await walletTransaction(cell, context, customerId, async (tx) => {
    const open = await openWallet(tx, context, customerId);
    // Somebody else asked for the same, and was first.
    if (open === null) return;
    await eraseWordsOfGrants(tx, open);
    await hideCustomer(tx, { ...open, customerId });
    const audit = { action: "customer.erased", subject: "customer", before: null, after: null };
    await saveEdits(tx, { ...context, clock: open.clock }, [{ ...open, change: null, audits: [audit] }]);
  });
}

/** Who began before may still write under the old number; no transaction lives longer than some seconds. */
async function letWritersEnd(cell: Pool): Promise<void> {
  const now = await single(cell, readClock);
  const giveUpAtMs = performance.now() + WRITERS_END_MS;
  while (performance.now() < giveUpAtMs && (await single(cell, (tx) => areWritersUnderWay(tx, now)))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function earlier(at: Instant): Instant {
  return brandAs<Instant>(at - MARGIN_MS);
}
