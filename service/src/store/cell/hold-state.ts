import type { HeldItem, Hold } from "../../entitlement/wallet.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type MemberId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { readPeriod } from "./overrides-state.ts";

// The format of `hold_changes.state`:
//
//   [isCharged 0|1, planVersion, assignment, [item…]]           isCharged: whether the hold is charged when it expires
//   item   [feature, quantity, pool, cost, overrides | null, limit | null, [part…], overage…]
//   cost   [credits, per]
//   limit  [quantity, period | null]                            period is null unless an override set the limit
//   part   [grant, credits, isRevoked?]                         isRevoked: 1 if true, otherwise absent
//   overage  [grant, credits]

type PartState = [number, number, isRevoked?: 1];
type ItemState = [
  number,
  number,
  number,
  [number, number],
  number | null,
  [number, string | null] | null,
  PartState[],
  ...overage: [number, number][],
];
type HoldState = [0 | 1, number, number, ItemState[]];

type Terms = Omit<Hold, "number" | "openedAt" | "expiresAt" | "memberId">;

export function encodeHoldState({ onExpiry, planVersion, assignment, items }: Hold): string {
  const state: HoldState = [onExpiry === "charge" ? 1 : 0, planVersion, assignment, items.map(writeItem)];
  return JSON.stringify(state);
}

export function decodeHoldState(text: string): Terms {
  const [isCharged, planVersion, assignment, items]: HoldState = JSON.parse(text);
  return {
    onExpiry: isCharged === 1 ? "charge" : "release",
    planVersion: brandAs<PlanVersionId>(planVersion),
    assignment,
    items: items.map(readItem),
  };
}

/** Columns of `cell.hold_changes as h`, in the order of `decodeHolds`. */
export const HOLD_COLUMNS = `
          h.hold_number,
          (extract(epoch from h.opened_at) * 1000)::bigint,
          (extract(epoch from h.expires_at) * 1000)::bigint,
          h.member_id,
          h.state
        `;

/** Decodes a JSON array of holds, each an array of `HOLD_COLUMNS`. */
export function decodeHolds(text: string): Hold[] {
  const holds: readonly [number, Instant, Instant, MemberId | null, string][] = JSON.parse(text);
  return holds.map(([number, openedAt, expiresAt, memberId, state]) => ({
    number,
    openedAt,
    expiresAt,
    memberId,
    ...decodeHoldState(state),
  }));
}

function writeItem({ feature, quantity, pool, cost, overrides, limit, parts, overage }: HeldItem): ItemState {
  return [
    feature,
    quantity,
    pool,
    [cost.credits, cost.per],
    overrides,
    limit && [limit.quantity, limit.own],
    parts.map(
      ({ grant, credits, isRevoked }): PartState => (isRevoked ? [grant, credits, 1] : [grant, credits]),
    ),
    ...overage.map(({ grant, credits }): [number, number] => [grant, credits]),
  ];
}

function readItem([feature, quantity, pool, cost, overrides, limit, parts, ...overage]: ItemState): HeldItem {
  const [credits, per] = cost;
  return {
    feature: brandAs<FeatureId>(feature),
    quantity,
    pool: brandAs<PoolId>(pool),
    cost: { credits, per },
    overrides,
    limit: limit && { quantity: limit[0], own: limit[1] === null ? null : readPeriod(limit[1]) },
    parts: parts.map(([grant, held, isRevoked]) => ({ grant, credits: held, isRevoked: isRevoked === 1 })),
    overage: overage.map(([grant, beyond]) => ({ grant, credits: beyond })),
  };
}
