import type { Call } from "../history/call.ts";
import type { ManageCall } from "../history/manage-call.ts";
import { checkContents } from "./check-contents.ts";
import { type Counts, checkCounts, countBounds } from "./check-counts.ts";
import { checkReplies } from "./check-replies.ts";
import { checkCharges } from "./consumes/check-charges.ts";
import { checkDenials } from "./consumes/check-denials.ts";
import { checkOrder } from "./consumes/check-order.ts";
import { checkEvents } from "./events/check-events.ts";
import { checkKeyAnswers } from "./keys/check-key-answers.ts";
import { checkKeys } from "./keys/check-keys.ts";
import { checkStoredKeys } from "./keys/check-stored-keys.ts";
import { checkAddedCredits } from "./manage/check-added-credits.ts";
import { checkPlans } from "./manage/check-plans.ts";
import { checkReversed } from "./manage/check-reversed.ts";
import type { Stored } from "./stored.ts";
import { listSubjects, type SubjectKind } from "./subjects.ts";
import { reachVerdict, type Verdict, type Violation } from "./violation.ts";
import { checkEnds, checkFold, openAccounts } from "./wallets/account.ts";
import { catalogOf } from "./wallets/catalog-of.ts";
import { checkDecisions } from "./wallets/check-decisions.ts";

/** Everything anybody saw: the callers, and the operator's automation. */
export type Seen = { readonly calls: readonly Call[]; readonly manageCalls: readonly ManageCall[] };

export type HistoryReport = {
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
  readonly doubts: readonly string[];
  /** Requests, not calls: copies under one key count once. `stored` is null when the rows could not be read. */
  readonly counts: Readonly<Record<SubjectKind, Counts & { readonly stored: number | null }>>;
};

/**
 * Judges what was seen against what the database holds. Pure: the same history and rows give the same report.
 * `stored` is null when the rows could not be read whole.
 */
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
      doubts.push(`not one ${kind} was acknowledged, so nothing of them is proven`);
  if (stored === null) doubts.push("the database could not be read whole");
  const violations = [
    ...checkKeys(calls),
    ...checkReplies(calls),
    ...(stored === null ? [] : checkStored(seen, stored)),
  ];
  return {
    verdict: reachVerdict(violations, doubts),
    violations,
    doubts,
    counts: { event: countOf("event"), charge: countOf("charge"), denial: countOf("denial") },
  };
}

function checkStored({ calls, manageCalls }: Seen, stored: Stored): Violation[] {
  const subjects = listSubjects(stored);
  const keyed = { keys: stored.keys, subjects };
  const { accounts, violations } = openAccounts(stored);
  const catalog = catalogOf(stored);
  return [
    ...violations,
    ...checkCounts(calls, subjects),
    ...checkContents(calls, stored),
    ...checkStoredKeys(calls, keyed),
    ...checkKeyAnswers(calls, keyed),
    ...checkEvents(calls, stored.events),
    ...checkCharges(calls, stored),
    ...checkDenials(calls, stored),
    ...checkAddedCredits(manageCalls, stored),
    ...checkReversed(manageCalls, accounts),
    ...checkPlans(manageCalls, accounts, stored),
    ...checkOrder(accounts, calls),
    ...accounts.flatMap((account) => [
      ...checkFold(account, catalog),
      ...checkDecisions(account, catalog),
      ...checkEnds(account),
    ]),
  ];
}
