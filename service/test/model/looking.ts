import type { Wallet } from "../../src/entitlement/wallet.ts";
import type { Book } from "./book.ts";
import type { ScriptStep } from "./script.ts";

/**
 * Whether the customer has had a plan. Before the first plan, reading the wallet would change the customer, because the first decision
 * applies the default plan.
 */
export function hadPlan(book: Book): boolean {
  return (book.wallet?.assignmentCount ?? 0) > 0;
}

export function look(book: Book, { catalog, clock }: Pick<ScriptStep, "catalog" | "clock">): void {
  if (hadPlan(book)) book.notice(catalog, clock);
}

/** The next end of the plan, the overrides, a period, a counter or a grant, or the start of the next plan. */
export function nextEnd({ assignment, grants, next, overrides, holds }: Wallet, after: number): number {
  const ends = [
    assignment?.endsAt,
    next?.startsAt,
    overrides?.endsAt,
    ...(assignment?.allowances ?? []).map((allowance) => allowance.end),
    ...(assignment?.counters ?? []).map((counter) => counter.end),
    ...grants.map((grant) => grant.expiresAt),
    ...holds.map((hold) => hold.expiresAt),
  ];
  const later = ends.map((end) => end ?? Number.POSITIVE_INFINITY).filter((end) => end > after);
  return Math.min(Number.POSITIVE_INFINITY, ...later);
}

/**
 * The visible state that must not depend on when the customer was viewed: plan, credits by expiry, and the responses to checks.
 */
export function seen(
  book: Book,
  { catalog, clock }: ScriptStep,
): { plan: unknown; next: unknown; credits: unknown; holds: unknown; answers: unknown } {
  const view = book.view(book.due(catalog, clock));
  const credits: Record<string, number> = {};
  for (const { pool, kind, remaining, givenAt, expiresAt } of view.grants) {
    const name = `${kind} of pool ${pool} from ${givenAt} until ${expiresAt}`;
    credits[name] = (credits[name] ?? 0) + remaining;
  }
  const all = [...catalog.features.keys()].map((feature) => ({ feature, quantity: 1 }));
  const answers = [...all.map((item) => [item]), all].map((items) => {
    const { answer } = book.ask(catalog, { kind: "decide", items }, clock);
    return answer;
  });
  return { plan: view.plan, next: view.next, credits, holds: view.holds, answers };
}

/** Grants with credits that can be spent. */
export function openGrants(book: Book): { number: number; remaining: number }[] {
  return (book.wallet?.grants ?? [])
    .filter((grant) => grant.remaining > 0)
    .map(({ number, remaining }) => ({ number, remaining }));
}
