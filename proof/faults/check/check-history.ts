import { type Call, hasItems, type ManageCall, type Span } from "../history.ts";
import { checkExpiries, checkFold, openAccounts } from "./accounts.ts";
import { answeredBy } from "./acts.ts";
import { findDecision } from "./answers.ts";
import { catalogOf } from "./catalog-of.ts";
import { checkCharges, checkDenials, checkEvents, checkOrder } from "./check-acknowledged.ts";
import { checkDecisions } from "./check-decisions.ts";
import { checkHolds } from "./check-holds.ts";
import { checkItems, checkPools } from "./check-items.ts";
import { checkKeyAnswers, checkStoredKeys } from "./check-keys.ts";
import { checkAddedCredits, checkPlans, checkReversed } from "./check-manage.ts";
import { checkOverage } from "./check-overage.ts";
import { checkAffordable, checkKeyReplies, checkReplies } from "./check-replies.ts";
import { type Counts, checkContents, checkCounts, countBounds } from "./check-requests.ts";
import { checkReversals } from "./check-reversals.ts";
import type { Stored } from "./stored.ts";
import { listSubjects, type SubjectKind } from "./subjects.ts";
import { reachVerdict, type Verdict, type Violation } from "./violation.ts";

/** The calls from all clients and from the operator's automation. */
export type Seen = {
  readonly calls: readonly Call[];
  readonly manageCalls: readonly ManageCall[];
  /** When the upgrade was finished, in a run with an upgrade. Until then, denials have no affordable quantity. */
  readonly finished?: Span;
};

export type HistoryReport = {
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
  readonly doubts: readonly string[];
  /** Counts requests, not calls: retries under one key count once. `stored` is null if the rows could not be read. */
  readonly counts: Readonly<Record<SubjectKind, Counts & { readonly stored: number | null }>>;
};

/** Compares the history with the database, without side effects. `stored` is null if the rows could not all be read. */
export function checkHistory(seen: Seen, stored: Stored | null): HistoryReport {
  const { calls } = seen;
  const doubts: string[] = [];
  const bounds = countBounds(calls);
  const subjects = stored === null ? null : listSubjects(stored);
  const countOf = (kind: SubjectKind): HistoryReport["counts"][SubjectKind] => ({
    ...bounds[kind],
    stored: subjects?.filter((subject) => subject.kind === kind).length ?? null,
  });
  for (const kind of ["event", "charge", "denial"] as const)
    if (bounds[kind].acknowledged === 0)
      doubts.push(`no ${kind} was acknowledged, so the run proves nothing about ${kind}s`);
  for (const allowed of [true, false])
    if (!hasSeveral(calls, allowed))
      doubts.push(
        `no request with items was ${allowed ? "allowed" : "denied"}, so the run proves nothing about such requests`,
      );
  for (const kind of calls.some(({ request }) => request.endpoint === "holds") ? HOLD_KINDS : [])
    if (stored !== null && !stored.holdChanges.some((row) => row.kind === kind))
      doubts.push(`no hold was ${kind}, so the run proves nothing about such holds`);
  if (stored === null) doubts.push("the database could not be read completely");
  const violations = [
    ...checkKeyReplies(calls),
    ...checkReplies(calls),
    ...checkAffordable(calls, seen.finished ?? null),
    ...(stored === null ? [] : checkStored(seen, stored)),
  ];
  return {
    verdict: reachVerdict(violations, doubts),
    violations,
    doubts,
    counts: {
      event: countOf("event"),
      charge: countOf("charge"),
      denial: countOf("denial"),
      hold: countOf("hold"),
      reversal: countOf("reversal"),
    },
  };
}

/** Every run with holds must contain all these changes. */
export const HOLD_KINDS = ["opened", "extended", "settled", "released", "expired", "charged"] as const;

/** Whether any consume request with items had this decision. */
function hasSeveral(calls: readonly Call[], allowed: boolean): boolean {
  return calls.some(
    (call) =>
      call.request.endpoint === "consume" &&
      hasItems(call.request) &&
      findDecision(call)?.allowed === allowed,
  );
}

function checkStored({ calls, manageCalls }: Seen, stored: Stored): Violation[] {
  const subjects = listSubjects(stored);
  const keyed = { keys: stored.keys, subjects };
  const { accounts, violations } = openAccounts(stored);
  const catalog = catalogOf(stored);
  const answered = answeredBy(calls);
  return [
    ...violations,
    ...checkCounts(calls, subjects),
    ...checkContents(calls, stored),
    ...checkStoredKeys(calls, keyed),
    ...checkKeyAnswers(calls, keyed),
    ...checkPools(calls, stored),
    ...checkEvents(calls, stored),
    ...checkCharges(calls, stored, accounts),
    ...checkDenials(calls, stored),
    ...checkHolds(calls, accounts, stored),
    ...checkAddedCredits(manageCalls, stored),
    ...checkReversed(manageCalls, accounts),
    ...checkReversals(calls, accounts),
    ...checkPlans(manageCalls, accounts, stored),
    ...checkOrder(accounts, calls),
    ...accounts.flatMap((account) => [
      ...checkFold(account, catalog),
      ...checkItems(account),
      ...checkDecisions(account, catalog, answered),
      ...checkExpiries(account),
      ...checkOverage(account, catalog),
    ]),
  ];
}
