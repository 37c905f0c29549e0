import type { Catalog } from "../../entitlement/catalog.ts";
import { hashKey } from "../../entitlement/key-hash.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import type { Instant, ProjectId } from "../../primitives/brand.ts";
import type { AuditRow } from "../../store/cell/audit.ts";
import type { CustomerName } from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { EventRow } from "../../store/cell/events.ts";
import type { KeyedRequest } from "../../store/cell/keyed-requests.ts";
import type { LedgerRow } from "../../store/cell/ledger.ts";
import type { LoggedRequest } from "../../store/cell/request-log.ts";
import type { WalletChanges } from "../../store/cell/wallet-changes.ts";
import type { WalletName } from "../../store/cell/wallets.ts";

export type World = { readonly projectId: ProjectId; readonly catalog: Catalog };

export type Customer = CustomerName & WalletName;

/** A customer with its wallet after the previous act. */
export type Known = Customer & { readonly wallet: Wallet };

/** The rows that one act writes, and the wallet after the act. */
export type Moment = {
  readonly at: Instant;
  readonly wallet: Wallet;
  readonly changes: WalletChanges;
  readonly denials: readonly DenialRow[];
  readonly events: readonly EventRow[];
  readonly keyedRequests: readonly KeyedRequest[];
  readonly audits: readonly AuditRow[];
  /** The request log row. Null if the act is not a runtime request. */
  readonly logged: Omit<LoggedRequest, "ageMs"> | null;
};

/** The earlier request with this key. */
export function findKeyedRequest(past: readonly Moment[], key: string): KeyedRequest | null {
  const keyHash = hashKey(key);
  for (const { keyedRequests } of past) {
    const earlier = keyedRequests.find((request) => request.keyHash === keyHash);
    if (earlier !== undefined) return earlier;
  }
  return null;
}

/** The hold that was opened with this key. */
export function findHold(past: readonly Moment[], key: string): Hold | null {
  const keyHash = hashKey(key);
  const rows = past.flatMap(({ changes }) => changes.holds);
  return rows.find(({ note }) => note?.keyHash === keyHash)?.change.hold ?? null;
}

export type Charge = { readonly at: Instant; readonly row: LedgerRow };

/** The ledger entry of the charge with this key, and when it was recorded. */
export function findCharge(past: readonly Moment[], key: string): Charge | null {
  const keyHash = hashKey(key);
  const isIts = (row: LedgerRow): boolean => row.keyHash === keyHash;
  const moment = past.findLast(({ changes }) => changes.ledger.some(isIts));
  const row = moment?.changes.ledger.find(isIts);
  return moment === undefined || row === undefined ? null : { at: moment.at, row };
}
