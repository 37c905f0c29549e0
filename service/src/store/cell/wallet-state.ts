import type {
  Grant,
  GrantKind,
  HeldCredits,
  NextPlan,
  Overrides,
  PausedPlan,
  PlanEvent,
  Wallet,
} from "../../entitlement/wallet.ts";
import { assert } from "../../primitives/assert.ts";
import { brandAs, type Instant, type PlanId, type PoolId } from "../../primitives/brand.ts";
import {
  type AssignmentState,
  type OwnCounterState,
  readAssignment,
  readEnd,
  readOwnCounter,
  writeAssignment,
  writeOwnCounter,
} from "./assignment-state.ts";
import {
  EMPTY_NOTICE_FIELDS,
  hasNoticeState,
  type NoticeFields,
  type NoticeState,
  readNoticeState,
  writeNoticeState,
} from "./notice-state.ts";
import { readTerms, type TermsState, writeTerms } from "./overrides-state.ts";

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
//               [pool, end, grant, base, own | null, overageUsed, overageHeld]   only if overage is used or held, in any form
//   overrides   [number, endsAt, terms]                           terms as in overrides-state.ts
//   ownCounter  [feature, end, used, fromSequence, period, earlier | null]
//   earlier     [assignment, fromSequence]
//
// The wallet of a customer who has or had holds has form 4, which also needs data format 2:
//
//   [4, …, overridesCount, overrides | null, [ownCounter…], holdCount, holdChanges, openHolds, [held…], holdsUntil?]
//   counter     [feature, end, used, fromSequence, fromHold]
//   ownCounter  [feature, end, used, fromSequence, period, earlier | null, fromHold]
//   earlier     [assignment, fromSequence, fromHold]
//   held        [grant, pool, kind, expiresAt, credits, revoked?]   revoked only if not 0
//   holdsUntil  no open hold ends by then; only if holds are open
//
// A wallet with state for notices, or that has or had top-up rules, has form 5, which also needs data format 2:
//
//   [5, …, [held…], notices, holdsUntil?]         notices as in notice-state.ts

const FORM = 1;
const FORM_WITH_NEXT = 2;
const FORM_WITH_OVERRIDES = 3;
const FORM_WITH_HOLDS = 4;
const FORM_WITH_NOTICES = 5;

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
type HeldState = [number, number, number, number | null, number, revoked?: number];
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
  holdCount?: number,
  holdChanges?: number,
  openHolds?: number,
  held?: HeldState[],
  ...rest: (number | NoticeState)[],
];

export function encodeWalletState(wallet: Wallet): string {
  const { grantCount, assignmentCount, assignment, grants, paused, planAsOf, planEvent, next } = wallet;
  const { overridesCount, overrides, ownCounters, holdCount, holdChanges, openHolds, held } = wallet;
  const form = formOf(wallet);
  const hasHolds = form >= FORM_WITH_HOLDS;
  const state: State = [
    form,
    grantCount,
    assignmentCount,
    assignment === null ? null : writeAssignment(assignment, hasHolds),
    grants.map(writeGrant),
    paused.map((plan) => [
      writeAssignment(plan.assignment, hasHolds),
      plan.leftAt,
      plan.grants.map(writeGrant),
    ]),
  ];
  const event = EVENTS.indexOf(planEvent);
  if (form !== FORM) {
    state.push(planAsOf, event === 0 ? 0 : 1, event, next === null ? null : writeNext(next));
    if (overridesCount > 0 || hasHolds) {
      const terms = overrides === null ? null : writeOverrides(overrides);
      const counters = ownCounters.map((counter) => writeOwnCounter(counter, hasHolds));
      state.push(overridesCount, terms, counters);
    }
    if (hasHolds) state.push(holdCount, holdChanges, openHolds, held.map(writeHeld));
    if (form === FORM_WITH_NOTICES) state.push(writeNoticeState(wallet));
    if (openHolds > 0) state.push(untilNextEnd(wallet));
  } else if (planAsOf !== null) {
    state.push(planAsOf);
    if (event > 0) state.push(1);
    if (event > 1) state.push(event);
  }
  return JSON.stringify(state);
}

const HOLDS_PREFIX = new RegExp(`^\\[[${FORM_WITH_HOLDS}${FORM_WITH_NOTICES}],`);

/** Reads `holdsUntil` (no open hold ends by this time) without decoding the whole state. */
export function holdsUntilIn(text: string): number {
  if (!HOLDS_PREFIX.test(text)) return Number.POSITIVE_INFINITY;
  // The last field is a list if no holds are open.
  const last = Number(text.slice(text.lastIndexOf(",") + 1, -1));
  return Number.isNaN(last) ? Number.POSITIVE_INFINITY : last;
}

/** A time by which no open hold ends. The holds that the wallet does not list end after `holdsUntil`. */
function untilNextEnd({ holds, holdsUntil, openHolds }: Wallet): number {
  assert(Number.isFinite(holdsUntil) || holds.length === openHolds, "all open holds are known");
  return Math.min(holdsUntil, ...holds.map(({ expiresAt }) => expiresAt - 1));
}

/** Whether the customer has open holds, in SQL, for `cell.wallets as w`. */
export const HAS_OPEN_HOLDS = `left(w.state, 3) in ('[${FORM_WITH_HOLDS},', '[${FORM_WITH_NOTICES},') and right(w.state, 2) <> ']]'`;

export function decodeWalletState(
  text: string,
  row: Pick<Wallet, "sequence" | "decidedAt" | "isBlocked">,
): Wallet {
  const state: State = JSON.parse(text);
  const [form, grantCount, assignmentCount, assignment, grants, paused] = state;
  const { 6: planAsOf = null, 7: isCut = 0, 8: planEvent = isCut, 9: next = null } = state;
  const { 10: overridesCount = 0, 11: overrides = null, 12: ownCounters = [] } = state;
  const { 13: holdCount = 0, 14: holdChanges = 0, 15: openHolds = 0, 16: held = [] } = state;
  const noticeFields =
    form === FORM_WITH_NOTICES ? readNoticeState(state[17] as NoticeState) : EMPTY_NOTICE_FIELDS;
  const { [noticeFields === EMPTY_NOTICE_FIELDS ? 17 : 18]: holdsUntil = Number.POSITIVE_INFINITY } = state;
  assert(typeof holdsUntil === "number", "`holdsUntil` is a time");
  assert(openHolds === 0 || Number.isFinite(holdsUntil), "a wallet with open holds has `holdsUntil`");
  assert(
    form === formOf({ next, overridesCount, holdCount, ...noticeFields }),
    "a wallet has a format that this release knows",
  );
  const { sequence, decidedAt, isBlocked } = row;
  const { lows, peaks, alerts } = noticeFields;
  // No spreads: decoding takes an eighth less time without them, and every request decodes a wallet.
  return {
    sequence,
    decidedAt,
    isBlocked,
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
    holdCount,
    holdChanges,
    openHolds,
    held: held.map(readHeld),
    // Holds that have ended by the time of a decision are read after the wallet.
    holds: [],
    holdsUntil,
    lows,
    peaks,
    alerts,
  };
}

type Formed = { readonly next: object | null } & Pick<Wallet, "overridesCount" | "holdCount"> & NoticeFields;

function formOf({ next, overridesCount, holdCount, lows, peaks, alerts }: Formed): number {
  if (hasNoticeState({ lows, peaks, alerts })) return FORM_WITH_NOTICES;
  if (holdCount > 0) return FORM_WITH_HOLDS;
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

function writeHeld({ grant, pool, kind, expiresAt, credits, revoked }: HeldCredits): HeldState {
  const state: HeldState = [grant, pool, GRANT_KIND_NUMBER[kind], expiresAt, credits];
  if (revoked > 0) state.push(revoked);
  return state;
}

function readHeld([grant, pool, kind, expiresAt, credits, revoked = 0]: HeldState): HeldCredits {
  return {
    grant,
    pool: brandAs<PoolId>(pool),
    kind: grantKindOf(kind),
    expiresAt: readEnd(expiresAt),
    credits,
    revoked,
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
