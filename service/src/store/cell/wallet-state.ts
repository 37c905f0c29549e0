import type {
  Assignment,
  Grant,
  GrantedAllowance,
  GrantKind,
  LimitCounter,
  NextPlan,
  Overrides,
  OwnCounter,
  PausedPlan,
  PlanEvent,
  Wallet,
} from "../../entitlement/wallet.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";
import { readPeriod, readTerms, type TermsState, writeTerms } from "./overrides-state.ts";

// The format of `wallets.state`: JSON arrays without field names, a third of the size of objects, because every charge writes it.
// Times are milliseconds since 1970; null means no end.
//
//   [1, grantCount, assignmentCount, assignment | null, [grant…], [paused…], planAsOf?, isCut?, planEvent?]
//   grant       [number, pool, kind, remaining, expiresAt]        kind as in cell.grants
//   assignment  [number, plan, version, anchor, endsAt, isDefault 0|1, [allowance…], [counter…]]
//   allowance   [pool, end, grant, base]
//   counter     [feature, end, used, fromSequence]
//   paused      [assignment, leftAt, [grant…]]
//   planAsOf    only if set
//   isCut       1, only if planEvent is not `assign`. Release 0.1.0 supports no other event, and ignores the fields after this one.
//   planEvent   1: cut, 2: schedule, 3: manual, 4: closed; only if not 0 or 1
//
// A wallet with a pending plan change has form 2, which needs data format 2:
//
//   [2, …, planAsOf | null, isCut 0|1, planEvent, next]
//   next        [plan, startsAt, endsAt, anchor, shorten 0|1]
//
// The wallet of a customer who has or had overrides has form 3, which also needs data format 2:
//
//   [3, …, planAsOf | null, isCut 0|1, planEvent, next | null, overridesCount, overrides | null, [ownCounter…]]
//   allowance   [pool, end, grant, base, own?]                    own only if overrides gave it
//   overrides   [number, endsAt, terms]                           terms as in overrides-state.ts
//   ownCounter  [feature, end, used, fromSequence, period, earlier | null]
//   earlier     [assignment, fromSequence]

const FORM = 1;
const FORM_WITH_NEXT = 2;
const FORM_WITH_OVERRIDES = 3;

/** The state of a new customer. */
export const EMPTY_WALLET_STATE = JSON.stringify([FORM, 0, 0, null, [], []] satisfies State);

export const GRANT_KIND_NUMBER = {
  allowance: 1,
  purchase: 2,
  manual: 3,
  promotion: 4,
} as const satisfies Record<GrantKind, number>;

const EVENTS: readonly PlanEvent[] = ["assign", "cut", "schedule", "manual", "closed"];

const GRANT_KINDS: readonly GrantKind[] = ["allowance", "purchase", "manual", "promotion"];

export function grantKindOf(number: number): GrantKind {
  const kind = GRANT_KINDS[number - 1];
  assert(kind !== undefined, "the kind of a grant is known");
  return kind;
}

type GrantState = [number, number, number, number, number | null];
type AllowanceState = [number, number | null, number, number, own?: number];
type CounterState = [number, number | null, number, number];
type OwnCounterState = [...CounterState, string, [number, number] | null];
type AssignmentState = [
  number,
  number,
  number,
  number,
  number | null,
  0 | 1,
  AllowanceState[],
  CounterState[],
];
type PausedState = [AssignmentState, number, GrantState[]];
type NextState = [number, number, number | null, number, 0 | 1];
type OverridesState = [number, number | null, TermsState];
type State = [
  number,
  number,
  number,
  AssignmentState | null,
  GrantState[],
  PausedState[],
  planAsOf?: number | null,
  isCut?: 0 | 1,
  planEvent?: number,
  next?: NextState | null,
  overridesCount?: number,
  overrides?: OverridesState | null,
  ownCounters?: OwnCounterState[],
];

export function encodeWalletState(wallet: Wallet): string {
  const { grantCount, assignmentCount, assignment, grants, paused, planAsOf, planEvent, next } = wallet;
  const { overridesCount, overrides, ownCounters } = wallet;
  const state: State = [
    formOf(overridesCount, next),
    grantCount,
    assignmentCount,
    assignment === null ? null : writeAssignment(assignment),
    grants.map(writeGrant),
    paused.map((plan) => [writeAssignment(plan.assignment), plan.leftAt, plan.grants.map(writeGrant)]),
  ];
  const event = EVENTS.indexOf(planEvent);
  if (next !== null || overridesCount > 0) {
    state.push(planAsOf, event === 0 ? 0 : 1, event, next === null ? null : writeNext(next));
    if (overridesCount > 0) {
      const terms = overrides === null ? null : writeOverrides(overrides);
      state.push(overridesCount, terms, ownCounters.map(writeOwnCounter));
    }
  } else if (planAsOf !== null) {
    state.push(planAsOf);
    if (event > 0) state.push(1);
    if (event > 1) state.push(event);
  }
  return JSON.stringify(state);
}

export function decodeWalletState(
  text: string,
  row: Pick<Wallet, "sequence" | "decidedAt" | "isBlocked">,
): Wallet {
  const state: State = JSON.parse(text);
  const [form, grantCount, assignmentCount, assignment, grants, paused] = state;
  const { 6: planAsOf = null, 7: isCut = 0, 8: planEvent = isCut, 9: next = null } = state;
  const { 10: overridesCount = 0, 11: overrides = null, 12: ownCounters = [] } = state;
  assert(form === formOf(overridesCount, next), "a wallet has a format that this release knows");
  return {
    ...row,
    grantCount,
    assignmentCount,
    overridesCount,
    assignment: assignment === null ? null : readAssignment(assignment),
    grants: grants.map(readGrant),
    paused: paused.map(
      ([left, leftAt, leftGrants]): PausedPlan => ({
        assignment: readAssignment(left),
        leftAt: brandAs<Instant>(leftAt),
        grants: leftGrants.map(readGrant),
      }),
    ),
    planAsOf: readEnd(planAsOf),
    planEvent: eventOf(planEvent),
    next: next === null ? null : readNext(next),
    overrides: overrides === null ? null : readOverrides(overrides),
    ownCounters: ownCounters.map(readOwnCounter),
  };
}

function formOf(overridesCount: number, next: object | null): number {
  if (overridesCount > 0) return FORM_WITH_OVERRIDES;
  return next === null ? FORM : FORM_WITH_NEXT;
}

function writeGrant({ number, pool, kind, remaining, expiresAt }: Grant): GrantState {
  return [number, pool, GRANT_KIND_NUMBER[kind], remaining, expiresAt];
}

function readGrant([number, pool, kind, remaining, expiresAt]: GrantState): Grant {
  return {
    number,
    pool: brandAs<PoolId>(pool),
    kind: grantKindOf(kind),
    remaining,
    expiresAt: readEnd(expiresAt),
  };
}

function writeAssignment(assignment: Assignment): AssignmentState {
  const { number, plan, version, anchor, endsAt, isDefault, allowances, counters } = assignment;
  return [
    number,
    plan,
    version,
    anchor,
    endsAt,
    isDefault ? 1 : 0,
    allowances.map(writeAllowance),
    counters.map(writeCounter),
  ];
}

function writeAllowance({ pool, end, grant, base, own }: GrantedAllowance): AllowanceState {
  return own === null ? [pool, end, grant, base] : [pool, end, grant, base, own];
}

function writeCounter({ feature, end, used, fromSequence }: LimitCounter): CounterState {
  return [feature, end, used, fromSequence];
}

function readCounter([feature, end, used, fromSequence]: CounterState): LimitCounter {
  return { feature: brandAs<FeatureId>(feature), end: readEnd(end), used, fromSequence };
}

function writeOwnCounter({ period, earlier, ...counter }: OwnCounter): OwnCounterState {
  const before: [number, number] | null = earlier && [earlier.assignment, earlier.fromSequence];
  return [...writeCounter(counter), period, before];
}

function readOwnCounter([feature, end, used, fromSequence, period, earlier]: OwnCounterState): OwnCounter {
  return {
    ...readCounter([feature, end, used, fromSequence]),
    period: readPeriod(period),
    earlier: earlier && { assignment: earlier[0], fromSequence: earlier[1] },
  };
}

function readAssignment(state: AssignmentState): Assignment {
  const [number, plan, version, anchor, endsAt, isDefault, allowances, counters] = state;
  return {
    number,
    plan: brandAs<PlanId>(plan),
    version: brandAs<PlanVersionId>(version),
    anchor: brandAs<Instant>(anchor),
    endsAt: readEnd(endsAt),
    isDefault: isDefault === 1,
    allowances: allowances.map(([pool, end, grant, base, own = null]) => ({
      pool: brandAs<PoolId>(pool),
      end: readEnd(end),
      grant,
      base,
      own,
    })),
    counters: counters.map(readCounter),
  };
}

function writeNext({ plan, startsAt, endsAt, anchor, shorten }: NextPlan): NextState {
  return [plan, startsAt, endsAt, anchor, shorten ? 1 : 0];
}

function readNext([plan, startsAt, endsAt, anchor, shorten]: NextState): NextPlan {
  return {
    plan: brandAs<PlanId>(plan),
    startsAt: brandAs<Instant>(startsAt),
    endsAt: readEnd(endsAt),
    anchor: brandAs<Instant>(anchor),
    shorten: shorten === 1,
  };
}

function writeOverrides({ number, endsAt, ...terms }: Overrides): OverridesState {
  return [number, endsAt, writeTerms(terms)];
}

function readOverrides([number, endsAt, terms]: OverridesState): Overrides {
  return { number, endsAt: readEnd(endsAt), ...readTerms(terms) };
}

function eventOf(number: number): PlanEvent {
  const event = EVENTS[number];
  assert(event !== undefined, "the kind of a billing event is known");
  return event;
}

function readEnd(end: number | null): Instant | null {
  return end === null ? null : brandAs<Instant>(end);
}
