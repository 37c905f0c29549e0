import type { HoldChange, HoldChangeKind } from "../../../service/src/entitlement/entry.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import type { HeldItem, Hold } from "../../../service/src/entitlement/wallet.ts";
import { brandAs, type Instant, type MemberId } from "../../../service/src/primitives/brand.ts";
import { decodeHoldState } from "../../../service/src/store/cell/hold-state.ts";
import type { StoredHoldChange } from "./stored.ts";

/** A change of a hold, with its state decoded. */
export type HoldRow = Omit<StoredHoldChange, "hold"> & { readonly hold: Hold };

/** Throws if the state is unreadable. */
export function readHoldRow(row: StoredHoldChange): HoldRow {
  const { hold: number, openedAtMs, expiresAtMs, memberId, state } = row;
  return {
    ...row,
    hold: {
      number,
      openedAt: brandAs<Instant>(openedAtMs),
      expiresAt: brandAs<Instant>(expiresAtMs),
      memberId: memberId === null ? null : brandAs<MemberId>(memberId),
      ...decodeHoldState(state),
    },
  };
}

export function toHoldChange({ number, kind, hold, sequence, effectiveAtMs }: HoldRow): HoldChange {
  return { number, kind, hold, sequence, effectiveAt: brandAs<Instant>(effectiveAtMs) };
}

const OPEN: ReadonlySet<HoldChangeKind> = new Set(["opened", "extended", "revoked"]);

export function isOpen({ kind }: Pick<StoredHoldChange, "kind">): boolean {
  return OPEN.has(kind);
}

/** The last change of each open hold, in order of number. */
export function openHoldsOf(rows: readonly HoldRow[]): HoldRow[] {
  const last = new Map(rows.map((row) => [row.hold.number, row]));
  return [...last.values()].filter(isOpen).toSorted((a, b) => a.hold.number - b.hold.number);
}

export function creditsIn({ parts }: HeldItem): number {
  return sumOf(parts);
}

/** The price of a held item: credits and overage. */
export function priceIn({ parts, overage }: HeldItem): number {
  return sumOf(parts) + sumOf(overage);
}

/** Returns the credits of a pool that were held before an entry. They are part of the entry's balance, but cannot be spent. */
export function heldBefore(
  rows: readonly HoldRow[],
): (entry: { readonly sequence: number; readonly pool: number }) => number {
  const open = new Map<number, Hold>();
  const steps = rows.map((row) => {
    if (isOpen(row)) open.set(row.hold.number, row.hold);
    else open.delete(row.hold.number);
    return { sequence: row.sequence, items: [...open.values()].flatMap(({ items }) => items) };
  });
  return ({ sequence, pool }) => {
    const { items = [] } = steps.findLast((step) => step.sequence < sequence) ?? {};
    return items.reduce((sum, item) => sum + (item.pool === pool ? creditsIn(item) : 0), 0);
  };
}
