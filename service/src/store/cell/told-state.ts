import type { PeriodKind } from "../../entitlement/period.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { brandAs, type FeatureId, type PoolId } from "../../primitives/brand.ts";
import { readEnd } from "./assignment-state.ts";

// The lows and peaks of a wallet: [[low…], [peak…]]
//
//   low   [pool, balance]
//   peak  [feature, assignment | period, end, used]

type LowState = [number, number];
type PeakState = [number, number | PeriodKind, number | null, number];
export type ToldState = [LowState[], PeakState[]];

type Told = Pick<Wallet, "lows" | "peaks">;

export const NOTHING_TOLD: Told = { lows: [], peaks: [] };

export function writeTold({ lows, peaks }: Told): ToldState {
  return [
    lows.map(({ pool, balance }) => [pool, balance]),
    peaks.map(({ feature, of, end, used }) => [feature, of, end, used]),
  ];
}

export function readTold([lows, peaks]: ToldState): Told {
  return {
    lows: lows.map(([pool, balance]) => ({ pool: brandAs<PoolId>(pool), balance })),
    peaks: peaks.map(([feature, of, end, used]) => ({
      feature: brandAs<FeatureId>(feature),
      of,
      end: readEnd(end),
      used,
    })),
  };
}
