import type { Alerts, OpenTopUp, PoolAlerts, PoolTopUps } from "../../entitlement/alerts.ts";
import type { PeriodKind } from "../../entitlement/period.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import { brandAs, type FeatureId, type Instant, type PoolId } from "../../primitives/brand.ts";
import { readEnd } from "./assignment-state.ts";

// State that a wallet stores to avoid repeating notices, as JSON: [[low…], [peak…]], and [[low…], [peak…], [rule…], [topUps…],
// topUpCount] if it has or had rules.
//
//   low     [pool, balance]
//   peak    [feature, assignment | period, end, used]
//   rule    [pool, [lowBalance…] | null, [below, credits, monthlyMax] | null]
//   topUps  [pool, month, requests, open | null]
//   open    [number, requestedAt, attempt, askedAt, credits]

type LowState = [number, number];
type PeakState = [number, number | PeriodKind, number | null, number];
type RuleState = [number, readonly number[] | null, [number, number, number] | null];
type OpenState = [number, number, number, number, number];
type TopUpsState = [number, number, number, OpenState | null];
export type NoticeState = [
  LowState[],
  PeakState[],
  rules?: RuleState[],
  topUps?: TopUpsState[],
  topUpCount?: number,
];

export type NoticeFields = Pick<Wallet, "lows" | "peaks" | "alerts">;

export const EMPTY_NOTICE_FIELDS: NoticeFields = {
  lows: [],
  peaks: [],
  alerts: { pools: [], topUps: [], topUpCount: 0 },
};

export function hasNoticeState({ lows, peaks, alerts }: NoticeFields): boolean {
  return lows.length + peaks.length > 0 || hasAlerts(alerts);
}

function hasAlerts({ pools, topUpCount }: Alerts): boolean {
  return pools.length > 0 || topUpCount > 0;
}

export function writeNoticeState({ lows, peaks, alerts }: NoticeFields): NoticeState {
  const state: NoticeState = [
    lows.map(({ pool, balance }) => [pool, balance]),
    peaks.map(({ feature, of, end, used }) => [feature, of, end, used]),
  ];
  if (hasAlerts(alerts))
    state.push(alerts.pools.map(writeRule), alerts.topUps.map(writeTopUps), alerts.topUpCount);
  return state;
}

export function readNoticeState([
  lows,
  peaks,
  rules = [],
  topUps = [],
  topUpCount = 0,
]: NoticeState): NoticeFields {
  return {
    lows: lows.map(([pool, balance]) => ({ pool: brandAs<PoolId>(pool), balance })),
    peaks: peaks.map(([feature, of, end, used]) => ({
      feature: brandAs<FeatureId>(feature),
      of,
      end: readEnd(end),
      used,
    })),
    alerts: { pools: rules.map(readRule), topUps: topUps.map(readTopUps), topUpCount },
  };
}

function writeRule({ pool, lowBalances, topUp }: PoolAlerts): RuleState {
  return [pool, lowBalances, topUp && [topUp.below, topUp.credits, topUp.monthlyMax]];
}

function readRule([pool, lowBalances, topUp]: RuleState): PoolAlerts {
  const [below = 0, credits = 0, monthlyMax = 0] = topUp ?? [];
  return { pool: brandAs<PoolId>(pool), lowBalances, topUp: topUp && { below, credits, monthlyMax } };
}

function writeTopUps({ pool, month, requests, open }: PoolTopUps): TopUpsState {
  return [pool, month, requests, open && writeOpen(open)];
}

function readTopUps([pool, month, requests, open]: TopUpsState): PoolTopUps {
  return {
    pool: brandAs<PoolId>(pool),
    month: brandAs<Instant>(month),
    requests,
    open: open && readOpen(open),
  };
}

function writeOpen({ number, requestedAt, attempt, askedAt, credits }: OpenTopUp): OpenState {
  return [number, requestedAt, attempt, askedAt, credits];
}

function readOpen([number, requestedAt, attempt, askedAt, credits]: OpenState): OpenTopUp {
  return {
    number,
    requestedAt: brandAs<Instant>(requestedAt),
    attempt,
    askedAt: brandAs<Instant>(askedAt),
    credits,
  };
}
