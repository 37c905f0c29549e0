import { type Static, Type } from "typebox";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { EntryKind } from "../../entitlement/entry.ts";
import { balanceOf, heldIn } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { snapshot } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureId,
  type Instant,
  type ProjectId,
} from "../../primitives/brand.ts";
import { requestIdOf } from "../../primitives/consume-id.ts";
import { nameHold } from "../../primitives/hold-id.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { type KeyUse, listKeyUses } from "../../store/cell/key-records.ts";
import { type LedgerRecord, listLedger as listRecords } from "../../store/cell/ledger.ts";
import { findLastBefore, listBalances } from "../../store/cell/ledger-balances.ts";
import { findWholeLedgerSince, holdLedger } from "../../store/cell/usage/attached-months.ts";
import { nullable, shownMember, shownOverrides, timeField, timeOf } from "../fields.ts";
import { notBefore } from "../history-window.ts";
import { CatalogNames, PlanName } from "./catalog-names.ts";

export const ENTRY_KINDS = ["grant", "consume", "expire", "revoke", "reverse"] as const satisfies EntryKind[];

export const LedgerEntry = Type.Object({
  sequence: Type.Integer({
    description: "Entry number, unique in the customer's ledger.",
    examples: [42],
  }),
  kind: Type.Enum([...ENTRY_KINDS]),
  pool: Type.String({ examples: ["credits"] }),
  amount: Type.Integer({
    description:
      "Credits added to or removed from the pool. All amounts in a pool add up to its balance plus held credits.",
    examples: [-30],
  }),
  balanceAfter: Type.Integer({
    description: "The balance of the pool after this entry, including held credits.",
    examples: [1250],
  }),
  effectiveAt: timeOf("When the change took effect. An expiry may be recorded later."),
  recordedAt: timeField,
  feature: nullable(Type.String({ examples: ["image.generate"] })),
  quantity: nullable(Type.Integer({ description: "Quantity charged or reversed.", examples: [3] })),
  plan: nullable(PlanName),
  overrides: shownOverrides,
  consumeId: nullable(
    Type.String({
      description: "Set only for charges. All items of a request have the same ID.",
      examples: ["con_01m7e9sv4w0000000000a00002"],
    }),
  ),
  item: nullable(
    Type.Integer({
      description:
        "The index of the charge, or of the reversed charge, in the request's `items`. Null if it is the request's only charge.",
      examples: [0],
    }),
  ),
  holdId: nullable(
    Type.String({
      description:
        "The hold that created this entry when the hold ended. The entry records the hold's charge, or credits that the hold could " +
        "not return. For a reversal, the hold of the reversed charge.",
      examples: ["hld_06fd5n0r000000000a00000001"],
    }),
  ),
  uncovered: Type.Integer({
    description:
      "The part of the price that neither credits nor overage covered. For a reversal, the uncovered part that is reversed. Above 0 " +
      "only for charges made by holds. The price of a charge is `overage + uncovered - amount`.",
    examples: [0],
  }),
  overage: Type.Integer({
    description:
      "The part of the price that is overage, to be invoiced later. For a reversal, the overage that is reversed.",
    examples: [0],
  }),
  reversedQuantity: nullable(
    Type.Integer({
      description: "The quantity reversed so far. Set only for charges.",
      examples: [0],
    }),
  ),
  reverses: nullable(
    Type.String({
      description:
        "The `consumeId` of the reversed charge. Set only for reversals. Null if the charge is older than the visible part of the ledger.",
      examples: ["con_01m7e9sv4w0000000000a00002"],
    }),
  ),
  idempotencyKey: nullable(
    Type.String({
      description: "Set only for charges, and for reversals that were made with a `quantity` and an API key.",
      examples: ["render-7f3a"],
    }),
  ),
  memberId: shownMember,
  metadata: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "The metadata of a charge, the `reference` and `note` of a reversal, or the `note` of a revocation.",
    }),
  ),
  parts: Type.Array(
    Type.Object({
      grant: Type.Integer({ examples: [2] }),
      amount: Type.Integer({ examples: [-30] }),
    }),
    { description: "The grants that this entry changed, with the amount for each grant." },
  ),
});

export type LedgerEntry = Static<typeof LedgerEntry>;

export const BroughtForward = Type.Object({
  pool: Type.String({ examples: ["credits"] }),
  amount: Type.Integer({
    description: "The sum of the pool's amounts before the time in `before`.",
    examples: [1_240],
  }),
  before: timeField,
});

export type BroughtForward = Static<typeof BroughtForward>;

export type LedgerFilter = {
  readonly kind: EntryKind | null;
  /** Feature key. */
  readonly feature: string | null;
  /** Only entries that took effect at or after this time. */
  readonly from: Instant | null;
  /** Only entries that took effect before this time. */
  readonly to: Instant | null;
};

export type LedgerPage = {
  readonly entries: readonly LedgerEntry[];
  readonly next: number | null;
  /** The sum of the hidden entries, per pool. Set on the last page, so that all amounts add up to the balance. */
  readonly broughtForward: readonly BroughtForward[];
};

const BEFORE_ALL = brandAs<Instant>(0);

/** Maximum number of entries scanned for one page of a filtered list. If few entries match, the page is short. */
const SCANNED_MAX = 10_000;

/** Lists ledger entries with a sequence below `before`, newest first, back to `since`. Null if the customer does not exist. */
export function listLedger(
  cell: Pool,
  scope: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  customerId: CustomerId,
  filter: LedgerFilter,
  page: { readonly before: number | null; readonly since: Instant | null; readonly limit: number },
): Promise<LedgerPage | null> {
  const { projectId, environmentId } = scope;
  return snapshot(cell, async (tx) => {
    await holdLedger(tx);
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const catalog = await loadCatalog(tx, environmentId);
    const { kind } = filter;
    const feature = filter.feature === null ? null : findFeature(catalog, filter.feature);
    // An unknown feature was never charged.
    if (feature === undefined) return { entries: [], next: null, broughtForward: [] };
    const name = { environmentId, customerNumber: customer.customerNumber };
    const newest = customer.wallet.sequence + 1;
    const isScan = kind !== null || feature !== null;
    const wholeSince = await findWholeLedgerSince(tx);
    // Entries up to the end of a detached month are hidden, because a ledger with a gap would not add up to the balance.
    const shownSince = notBefore(wholeSince, page.since ?? BEFORE_ALL);
    const since = notBefore(filter.from, shownSince);
    if (filter.to !== null && filter.to <= since) return { entries: [], next: null, broughtForward: [] };
    const isCut = since > BEFORE_ALL;
    const start = isCut
      ? await findLastBefore(tx, name, { last: newest - 1, at: since, isWholeSince: true })
      : 0;
    const end =
      filter.to === null
        ? newest
        : 1 + (await findLastBefore(tx, name, { last: newest - 1, at: filter.to, isWholeSince: true }));
    const before = page.before === null ? end : Math.min(page.before, end);
    // Sequence numbers have no gaps, so subtracting two sequence numbers counts the entries between.
    const after = isScan ? Math.max(start, before - 1 - SCANNED_MAX) : start;
    const range = { before, after, kind, feature, since, limit: page.limit + 1 };
    const found = await listRecords(tx, name, range);
    const shown = found.slice(0, page.limit);
    const keys = await listKeyUses(
      tx,
      { projectId, environmentId },
      shown.flatMap(({ keyHash }) => keyHash ?? []),
    );
    const names = new CatalogNames(catalog);
    const entries = shown.map((record) => describeEntry(record, { ...name, names, keys, since: shownSince }));
    if (found.length > page.limit)
      return { entries, next: shown.at(-1)?.sequence ?? null, broughtForward: [] };
    if (after > start) return { entries, next: after + 1, broughtForward: [] };
    if (!isCut || isScan) return { entries, next: null, broughtForward: [] };
    const balances = await listBalances(tx, name, { after: start, at: since });
    const broughtForward = balances.map(({ pool, balance }) => ({
      pool: names.pool(pool),
      amount: balance ?? balanceOf(customer.wallet, pool) + heldIn(customer.wallet, pool),
      before: formatTimestamp(since),
    }));
    return { entries, next: null, broughtForward };
  });
}

function findFeature({ features }: Catalog, key: string): FeatureId | undefined {
  return [...features.values()].find((feature) => feature.key === key)?.id;
}

type Known = {
  readonly customerNumber: CustomerNumber;
  readonly names: CatalogNames;
  readonly keys: ReadonlyMap<string, KeyUse>;
  readonly since: Instant;
};

function describeEntry(record: LedgerRecord, { customerNumber, names, keys, since }: Known): LedgerEntry {
  const { sequence, kind, recordedAt, reverses, feature, planVersion, keyHash } = record;
  const { place } = record;
  const nameRequest = (charge: { sequence: number; recordedAt: Instant }): string =>
    publicId("con", requestIdOf({ ...charge, customerNumber, place }));
  return {
    sequence,
    kind,
    pool: names.pool(record.pool),
    amount: record.amount,
    balanceAfter: record.balanceAfter,
    effectiveAt: formatTimestamp(record.effectiveAt),
    recordedAt: formatTimestamp(recordedAt),
    feature: feature === null ? null : names.feature(feature),
    quantity: record.quantity,
    plan: planVersion === null ? null : names.plan(planVersion),
    overrides: record.overrides,
    consumeId: kind === "consume" ? nameRequest({ sequence, recordedAt }) : null,
    item: place?.index ?? null,
    holdId: record.hold === null ? null : nameHold({ ...record.hold, customerNumber }),
    uncovered: record.uncovered,
    overage: record.overage,
    reversedQuantity: record.reversedQuantity,
    reverses: reverses === null || reverses.recordedAt < since ? null : nameRequest(reverses),
    idempotencyKey: keyHash === null ? null : (keys.get(keyHash)?.key ?? null),
    memberId: record.memberId,
    metadata: record.metadata,
    parts: [...record.parts],
  };
}
