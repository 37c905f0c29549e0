import type { Assignment, Grant, GrantKind, PausedPlan, Wallet } from "../../entitlement/wallet.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type FeatureId,
  type Instant,
  type PlanId,
  type PlanVersionId,
  type PoolId,
} from "../../primitives/brand.ts";

// The format of `wallets.state`: JSON arrays without field names, a third of the size of objects, because every charge writes it. Times
// are milliseconds since 1970; null means no end.
//
//   [1, grantCount, assignmentCount, assignment | null, [grant…], [paused…], planAsOf?, isPlanCut?]
//   grant       [number, pool, kind, remaining, expiresAt]        kind as in cell.grants
//   assignment  [number, plan, version, anchor, endsAt, isDefault 0|1, [allowance…], [counter…]]
//   allowance   [pool, end, grant, base]
//   counter     [feature, end, used, fromSequence]
//   paused      [assignment, leftAt, [grant…]]
//   planAsOf    only if set
//   isPlanCut   1, only if true

const FORM = 1;

/** The state of a new customer. */
export const EMPTY_WALLET_STATE = JSON.stringify([FORM, 0, 0, null, [], []] satisfies State);

export const GRANT_KIND_NUMBER = {
  allowance: 1,
  purchase: 2,
  manual: 3,
  promotion: 4,
} as const satisfies Record<GrantKind, number>;

const GRANT_KINDS: readonly GrantKind[] = ["allowance", "purchase", "manual", "promotion"];

export function grantKindOf(number: number): GrantKind {
  const kind = GRANT_KINDS[number - 1];
  assert(kind !== undefined, "the kind of a grant is known");
  return kind;
}

type GrantState = [number, number, number, number, number | null];
type AllowanceState = [number, number | null, number, number];
type CounterState = [number, number | null, number, number];
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
type State = [
  number,
  number,
  number,
  AssignmentState | null,
  GrantState[],
  PausedState[],
  planAsOf?: number,
  isPlanCut?: 1,
];

export function encodeWalletState(wallet: Wallet): string {
  const { grantCount, assignmentCount, assignment, grants, paused, planAsOf, isPlanCut } = wallet;
  const state: State = [
    FORM,
    grantCount,
    assignmentCount,
    assignment === null ? null : writeAssignment(assignment),
    grants.map(writeGrant),
    paused.map((plan) => [writeAssignment(plan.assignment), plan.leftAt, plan.grants.map(writeGrant)]),
  ];
  if (planAsOf !== null) state.push(planAsOf);
  if (planAsOf !== null && isPlanCut) state.push(1);
  return JSON.stringify(state);
}

export function decodeWalletState(
  text: string,
  row: Pick<Wallet, "sequence" | "decidedAt" | "isBlocked">,
): Wallet {
  const state: State = JSON.parse(text);
  const [form, grantCount, assignmentCount, assignment, grants, paused, planAsOf = null, isPlanCut] = state;
  assert(form === FORM, "a wallet has a format that this release knows");
  return {
    ...row,
    grantCount,
    assignmentCount,
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
    isPlanCut: isPlanCut === 1,
  };
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
    allowances.map(({ pool, end, grant, base }) => [pool, end, grant, base]),
    counters.map(({ feature, end, used, fromSequence }) => [feature, end, used, fromSequence]),
  ];
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
    allowances: allowances.map(([pool, end, grant, base]) => ({
      pool: brandAs<PoolId>(pool),
      end: readEnd(end),
      grant,
      base,
    })),
    counters: counters.map(([feature, end, used, fromSequence]) => ({
      feature: brandAs<FeatureId>(feature),
      end: readEnd(end),
      used,
      fromSequence,
    })),
  };
}

function readEnd(end: number | null): Instant | null {
  return end === null ? null : brandAs<Instant>(end);
}
