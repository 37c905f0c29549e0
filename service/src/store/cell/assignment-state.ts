import type { Assignment, GrantedAllowance, LimitCounter, OwnCounter } from "../../entitlement/wallet.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { readPeriod } from "./overrides-state.ts";

// The formats of assignments and counters in `wallets.state`. wallet-state.ts describes the complete format.

type AllowanceState = [
  number,
  number | null,
  number,
  number,
  own?: number | null,
  overageUsed?: number,
  overageHeld?: number,
];
type CounterState = [number, number | null, number, number, fromHold?: number];
type EarlierState = [number, number, fromHold?: number];
export type OwnCounterState = [
  number,
  number | null,
  number,
  number,
  string,
  EarlierState | null,
  fromHold?: number,
];
export type AssignmentState = [
  number,
  number,
  number,
  number,
  number | null,
  0 | 1,
  AllowanceState[],
  CounterState[],
];
/** The value of `fromHold` in wallets that never had a hold. */
const FIRST_HOLD = 1;

export function readEnd(end: number | null): Instant | null {
  return end === null ? null : brandAs<Instant>(end);
}

export function writeAssignment(assignment: Assignment, hasHolds: boolean): AssignmentState {
  const { number, plan, version, anchor, endsAt, isDefault, allowances, counters } = assignment;
  return [
    number,
    plan,
    version,
    anchor,
    endsAt,
    isDefault ? 1 : 0,
    allowances.map(writeAllowance),
    counters.map((counter) => writeCounter(counter, hasHolds)),
  ];
}

function writeAllowance(allowance: GrantedAllowance): AllowanceState {
  const { pool, end, grant, base, own, overageUsed, overageHeld } = allowance;
  if (overageUsed > 0 || overageHeld > 0) return [pool, end, grant, base, own, overageUsed, overageHeld];
  return own === null ? [pool, end, grant, base] : [pool, end, grant, base, own];
}

function writeCounter(
  { feature, end, used, fromSequence, fromHold }: LimitCounter,
  hasHolds: boolean,
): CounterState {
  const counter: CounterState = [feature, end, used, fromSequence];
  if (hasHolds) counter.push(fromHold);
  return counter;
}

function readCounter([feature, end, used, fromSequence, fromHold]: CounterState): LimitCounter {
  return {
    feature: brandAs<FeatureId>(feature),
    end: readEnd(end),
    used,
    fromSequence,
    fromHold: fromHold ?? FIRST_HOLD,
  };
}

export function writeOwnCounter(counter: OwnCounter, hasHolds: boolean): OwnCounterState {
  const { feature, end, used, fromSequence, fromHold, period, earlier } = counter;
  const before: EarlierState | null = earlier && [earlier.assignment, earlier.fromSequence];
  if (hasHolds) before?.push(earlier?.fromHold);
  const state: OwnCounterState = [feature, end, used, fromSequence, period, before];
  if (hasHolds) state.push(fromHold);
  return state;
}

export function readOwnCounter(state: OwnCounterState): OwnCounter {
  const [feature, end, used, fromSequence, period, earlier, fromHold = FIRST_HOLD] = state;
  return {
    ...readCounter([feature, end, used, fromSequence, fromHold]),
    period: readPeriod(period),
    earlier: earlier && {
      assignment: earlier[0],
      fromSequence: earlier[1],
      fromHold: earlier[2] ?? FIRST_HOLD,
    },
  };
}

export function readAssignment(state: AssignmentState): Assignment {
  const [number, plan, version, anchor, endsAt, isDefault, allowances, counters] = state;
  return {
    number,
    plan: brandAs<PlanId>(plan),
    version: brandAs<PlanVersionId>(version),
    anchor: brandAs<Instant>(anchor),
    endsAt: readEnd(endsAt),
    isDefault: isDefault === 1,
    allowances: allowances.map(([pool, end, grant, base, own = null, overageUsed = 0, overageHeld = 0]) => ({
      pool: brandAs<PoolId>(pool),
      end: readEnd(end),
      grant,
      base,
      own,
      overageUsed,
      overageHeld,
    })),
    counters: counters.map(readCounter),
  };
}
