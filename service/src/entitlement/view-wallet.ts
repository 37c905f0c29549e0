import type { Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { balanceOf, type NextPlan, type Wallet } from "./wallet.ts";

/** A wallet with all due changes applied, as the next decision would see it. Writes nothing. */
export function viewWallet(catalog: Catalog, wallet: Wallet, clock: Instant): Wallet {
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, decisionTime(catalog, wallet, clock));
  return draft.wallet;
}

/** The due changes that the next decision would write first. Null if nothing is due. */
export function viewDue(catalog: Catalog, wallet: Wallet, clock: Instant): Change | null {
  const now = decisionTime(catalog, wallet, clock);
  const draft = new Draft(catalog, wallet);
  catchUp(catalog, draft, now);
  return draft.finish(now);
}

/** For the audit log: the plan and each pool's balance before a change (with due changes applied) and after it. */
export function compareWallets(
  { catalog, wallet, clock }: { readonly catalog: Catalog; readonly wallet: Wallet; readonly clock: Instant },
  after: Wallet,
): { readonly before: object; readonly after: object } {
  return { before: summarize(viewWallet(catalog, wallet, clock), catalog), after: summarize(after, catalog) };
}

function summarize({ assignment, next, grants }: Wallet, catalog: Catalog): object {
  const plan = assignment === null ? undefined : catalog.plans.get(assignment.plan);
  const endsAt = assignment?.endsAt ?? null;
  const balances = [...catalog.pools.values()].map(({ id, key }) => [key, balanceOf({ grants }, id)]);
  return {
    plan: plan?.key ?? null,
    endsAt: endsAt === null ? null : formatTimestamp(endsAt),
    ...(assignment === null ? {} : { anchor: formatTimestamp(assignment.anchor) }),
    ...(assignment?.isDefault === true ? { isDefault: true } : {}),
    ...(next === null ? {} : summarizeNext(next, catalog)),
    balances: Object.fromEntries(balances),
  };
}

function summarizeNext({ plan, startsAt, endsAt, anchor }: NextPlan, catalog: Catalog): object {
  return {
    nextPlan: catalog.plans.get(plan)?.key ?? null,
    startsAt: formatTimestamp(startsAt),
    nextEndsAt: endsAt === null ? null : formatTimestamp(endsAt),
    nextAnchor: formatTimestamp(anchor),
  };
}
