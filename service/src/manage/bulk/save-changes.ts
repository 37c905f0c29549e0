import type { Change } from "../../entitlement/entry.ts";
import type { Tx } from "../../postgres/statement.ts";
import { insertAssignmentChanges } from "../../store/cell/assignments.ts";
import { type AuditLine, insertAuditLines } from "../../store/cell/bulk.ts";
import { type GrantOrigin, insertGrants } from "../../store/cell/grants.ts";
import { appendToLedger } from "../../store/cell/ledger.ts";
import { updateWallets, type WalletName } from "../../store/cell/wallets.ts";
import type { Instant } from "../../words/brand.ts";
import type { Context } from "../context.ts";

/** What happens to one of many wallets that a transaction has locked. */
export type WalletChange = WalletName & {
  readonly change: Change;
  /** Of the one grant among the change's that somebody gave. */
  readonly origin: { readonly grant: number; readonly origin: GrantOrigin } | null;
};

/** Writes many changes as a lane would: one statement for each table, however many they are. */
export async function saveChanges(tx: Tx, changes: readonly WalletChange[], clock: Instant): Promise<void> {
  if (changes.length === 0) return;
  const nameOf = ({ environmentId, customerNumber }: WalletChange): WalletName => ({
    environmentId,
    customerNumber,
  });
  await updateWallets(
    tx,
    changes.map((changed) => ({ ...nameOf(changed), wallet: changed.change.wallet })),
  );
  const entries = changes.flatMap((changed) =>
    changed.change.entries.map((entry) => ({ ...nameOf(changed), entry, keyHash: null, metadata: null })),
  );
  if (entries.length > 0) await appendToLedger(tx, entries, clock);
  const grants = changes.flatMap((changed) =>
    changed.change.grants.map((grant) => ({
      ...nameOf(changed),
      grant,
      origin: grant.number === changed.origin?.grant ? changed.origin.origin : null,
    })),
  );
  if (grants.length > 0) await insertGrants(tx, grants, clock);
  const assignments = changes.flatMap((changed) =>
    changed.change.assignments.map((change) => ({ ...nameOf(changed), change })),
  );
  if (assignments.length > 0) await insertAssignmentChanges(tx, assignments, clock);
}

export async function auditCustomers(
  tx: Tx,
  { environmentId, actor }: Context,
  lines: readonly AuditLine[],
  clock: Instant,
): Promise<void> {
  if (lines.length > 0) await insertAuditLines(tx, { environmentId, actor, recordedAt: clock }, lines);
}
