import type { Change, Entry, HoldChange } from "../../entitlement/entry.ts";
import type { ShortHash } from "../../entitlement/fingerprint.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import type { CustomerNumber, Instant, MemberId } from "../../primitives/brand.ts";
import { formatUuid } from "../../primitives/uuid.ts";
import { type AssignmentRow, insertAssignmentChanges } from "./assignments.ts";
import { type AuditRow, type BulkStart, insertAudits, insertBulkStart } from "./audit.ts";
import { type DuePlan, writeDuePlans } from "./due-plans.ts";
import { type GrantOrigin, type GrantRow, insertGrants } from "./grants.ts";
import { type HoldNote, type HoldRow, writeHolds } from "./holds.ts";
import { appendToLedger, type LedgerRow } from "./ledger.ts";
import { insertNotices, type NoticeRow } from "./notices.ts";
import { insertOverrides, type OverridesRow } from "./overrides.ts";
import { type ChangedWallet, updateWallets, type WalletName } from "./wallets.ts";

/** Data from the caller, stored on the rows of a change, where an erasure can remove it. */
export type Annotation = {
  /**
   * Stored on all entries of this kind: a single entry, or one entry for each item of a request. Metadata is stored only with the first
   * item's charge.
   */
  readonly entry?: {
    readonly kind: "consume" | "reverse" | "revoke";
    readonly keyHash: ShortHash | null;
    readonly memberId: MemberId | null;
    readonly metadata: string | null;
  };
  /** Stored on the change of this hold. */
  readonly hold?: { readonly number: number; readonly note: HoldNote };
  /** Stored on the grant with this number. */
  readonly grant?: { readonly number: number; readonly origin: GrantOrigin };
};

// A new field of `Change` does not compile until it is listed here. `add` must write it.
({}) satisfies Record<
  Exclude<
    keyof Change,
    "wallet" | "entries" | "grants" | "assignments" | "overrides" | "holds" | "notices" | "due"
  >,
  never
>;

/** Collects the rows of wallet changes for one transaction, for lanes, operators, imports, jobs and the demo. */
export class WalletChanges {
  /** The wallet after the latest change. The next decision about the same wallet starts from here. */
  readonly wallets = new Map<CustomerNumber, ChangedWallet>();
  readonly ledger: LedgerRow[] = [];
  readonly grants: GrantRow[] = [];
  readonly assignments: AssignmentRow[] = [];
  readonly overrides: OverridesRow[] = [];
  readonly holds: HoldRow[] = [];
  readonly notices: NoticeRow[] = [];
  /** Customers whose next change without a request was moved. */
  readonly duePlans = new Map<CustomerNumber, DuePlan>();

  /** Changes to one wallet must be added in the order in which they were decided. */
  add({ environmentId, customerNumber }: WalletName, change: Change, annotation: Annotation = {}): void {
    const { wallet, entries, grants, assignments, overrides, holds, notices, due } = change;
    this.#refuseGap(customerNumber, change);
    const name = { environmentId, customerNumber };
    this.wallets.set(customerNumber, { ...name, wallet });
    const annotated = new Set<object>();
    for (const entry of entries) {
      const about = isAnnotated(entry, annotation) ? (annotation.entry ?? null) : null;
      if (about !== null) annotated.add(about);
      const { keyHash = null, metadata = null } = about ?? {};
      const memberId = about?.memberId ?? memberOf(entry, holds);
      const isLater = entry.kind === "consume" && (entry.usage?.place?.index ?? 0) > 0;
      this.ledger.push({ ...name, entry, keyHash, memberId, metadata: isLater ? null : metadata });
    }
    for (const grant of grants) {
      const about = annotation.grant?.number === grant.number ? annotation.grant : null;
      if (about !== null) annotated.add(about);
      this.grants.push({ ...name, grant, origin: about?.origin ?? null });
    }
    for (const assignment of assignments) this.assignments.push({ ...name, change: assignment });
    if (due !== null) this.duePlans.set(customerNumber, { ...name, dueAt: due.at });
    for (const terms of overrides) this.overrides.push({ ...name, overrides: terms });
    for (const hold of holds) {
      const about =
        annotation.hold?.number === hold.hold.number && hold === holds.at(-1) ? annotation.hold : null;
      if (about !== null) annotated.add(about);
      this.holds.push({ ...name, change: hold, note: about?.note ?? null });
    }
    for (const notice of notices) this.notices.push({ ...name, sequence: wallet.sequence, notice });
    assert(annotated.size === Object.keys(annotation).length, "every annotation of a change is stored");
  }

  /** Throws if the wallet's counts show that a row is missing. A missing row would lose credits, or the terms of a charge. */
  #refuseGap(customerNumber: CustomerNumber, { wallet, entries, grants, overrides, holds }: Change): void {
    const previous = this.wallets.get(customerNumber)?.wallet ?? {
      sequence: (entries[0]?.sequence ?? wallet.sequence + 1) - 1,
      grantCount: (grants[0]?.number ?? wallet.grantCount + 1) - 1,
      overridesCount: (overrides[0]?.number ?? wallet.overridesCount + 1) - 1,
      holdChanges: (holds[0]?.number ?? wallet.holdChanges + 1) - 1,
    };
    const { sequence, grantCount, overridesCount, holdChanges } = previous;
    assert(wallet.sequence === sequence + entries.length, "every entry of a change is written");
    assert(wallet.grantCount === grantCount + grants.length, "every grant of a change is written");
    assert(
      wallet.overridesCount === overridesCount + overrides.length,
      "all overrides of a change are written",
    );
    assert(wallet.holdChanges === holdChanges + holds.length, "every change of a hold is written");
  }
}

/** A request's annotation does not apply to charges of other holds that ended in the same change. */
function isAnnotated({ kind, hold }: Entry, { entry, hold: own }: Annotation): boolean {
  if (entry?.kind !== kind) return false;
  return kind === "reverse" || hold === (own?.number ?? null);
}

/** The charges of a hold name the member for whom it was opened. */
function memberOf({ kind, hold }: Entry, holds: readonly HoldChange[]): MemberId | null {
  if (kind !== "consume" || hold === null) return null;
  return holds.find((change) => change.hold.number === hold)?.hold.memberId ?? null;
}

/**
 * One statement for each table with rows, always in this order. A lane starts all of them at once, to send them in one write; other
 * callers await them one by one. A value that cannot be encoded throws before its statement is sent.
 */
export function* writeChanges(
  tx: Tx,
  { wallets, ledger, grants, assignments, overrides, holds, notices, duePlans }: Omit<WalletChanges, "add">,
  at: Instant,
): Generator<Promise<unknown>, void> {
  if (wallets.size > 0) yield updateWallets(tx, [...wallets.values()]);
  if (ledger.length > 0) yield appendToLedger(tx, ledger, at);
  if (grants.length > 0) yield insertGrants(tx, grants, at);
  if (assignments.length > 0) yield insertAssignmentChanges(tx, assignments, at);
  if (overrides.length > 0) yield insertOverrides(tx, overrides, at);
  if (holds.length > 0) yield* writeHolds(tx, holds, at);
  if (duePlans.size > 0) yield writeDuePlans(tx, [...duePlans.values()]);
  if (notices.length > 0) yield insertNotices(tx, notices, at);
}

/** An audit entry about one customer. The entry must not contain the customer's ID, because the audit log cannot be erased. */
export type AuditLine = Pick<AuditRow, "action" | "subject" | "before" | "after">;

/** An operation's change to a wallet that its transaction has locked. */
export type WalletEdit = WalletName & {
  /** Null if the wallet does not change. */
  readonly change: Change | null;
  readonly annotation?: Annotation;
  readonly audits: readonly AuditLine[];
};

/**
 * Writes the changes to one or many wallets, and their audit entries. The entries of a bulk change refer to its start entry, which is
 * written with them. If the process dies before the final entry is recorded, the start entry shows that the change began.
 */
export async function saveEdits(
  tx: Tx,
  {
    actor,
    clock: recordedAt,
    bulk,
  }: { readonly actor: Actor; readonly clock: Instant; readonly bulk?: BulkStart },
  edits: readonly WalletEdit[],
): Promise<void> {
  const changes = new WalletChanges();
  for (const edit of edits) if (edit.change !== null) changes.add(edit, edit.change, edit.annotation);
  for (const written of writeChanges(tx, changes, recordedAt)) await written;
  const audits = edits.flatMap(({ environmentId, customerNumber, audits: lines }) =>
    lines.map(({ after, ...line }) => ({
      ...line,
      after: bulk ? { ...after, inBulk: formatUuid(bulk.id) } : after,
      ...{ environmentId, customerNumber, recordedAt, actor },
    })),
  );
  const [first] = audits;
  if (first === undefined) return;
  if (bulk) await insertBulkStart(tx, first, bulk);
  await insertAudits(tx, audits);
}
