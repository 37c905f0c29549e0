import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { areBatchesUnderWay, readClock } from "../../store/cell/clock.ts";
import { eraseCustomerRow } from "../../store/cell/customers.ts";
import { eraseDenialsMetadata } from "../../store/cell/denials.ts";
import { eraseEventsMetadata } from "../../store/cell/events.ts";
import { eraseLedgerMetadata } from "../../store/cell/ledger.ts";
import { blockWallet, type WalletName } from "../../store/cell/wallets.ts";
import type { CustomerId } from "../../words/brand.ts";
import type { Context } from "../context.ts";
import { auditCustomer, openWallet } from "./open-wallet.ts";

export type EraseOutcome = { kind: "erased"; rows: number } | { kind: "customer_not_found" };

/** Rows of one transaction: short ones, so that no old snapshot holds up a busy wallet. */
const ROWS_MAX = 5_000;
const BATCHES_END_MS = 12_000;

/**
 * Forgets a person: the caller's id, name, email, billing reference, and the metadata of everything they did. Amounts
 * stay, under a number that leads to nobody. The id goes last, so that after an interruption it can be asked again; and
 * what was recorded meanwhile is swept up after it.
 */
export async function eraseCustomer(
  cell: Pool,
  context: Context,
  input: { readonly customerId: CustomerId },
): Promise<EraseOutcome> {
  const blocked = await transaction(cell, async (tx) => {
    const open = await openWallet(tx, context, input.customerId);
    if (open !== null) await blockWallet(tx, open, true);
    return open;
  });
  if (blocked === null) return { kind: "customer_not_found" };
  const rows = await eraseMetadata(cell, blocked);
  await transaction(cell, async (tx) => {
    await eraseCustomerRow(tx, blocked);
    await auditCustomer(tx, context, blocked, {
      action: "customer.erased",
      subject: "customer",
      before: null,
      after: null,
    });
  });
  await letBatchesEnd(cell);
  return { kind: "erased", rows: rows + (await eraseMetadata(cell, blocked)) };
}

/** A batch that began before may still write under the old number; none lives longer than some seconds. */
async function letBatchesEnd(cell: Pool): Promise<void> {
  const now = await single(cell, readClock);
  const giveUpAtMs = performance.now() + BATCHES_END_MS;
  while (performance.now() < giveUpAtMs && (await single(cell, (tx) => areBatchesUnderWay(tx, now)))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function eraseMetadata(cell: Pool, customer: WalletName): Promise<number> {
  let rows = 0;
  for (const erase of [eraseLedgerMetadata, eraseDenialsMetadata, eraseEventsMetadata]) {
    for (let erased = ROWS_MAX; erased === ROWS_MAX; rows += erased) {
      erased = await transaction(cell, (tx) => erase(tx, customer, ROWS_MAX));
    }
  }
  return rows;
}
