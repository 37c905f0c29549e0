import type { Instant } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp, catchUpOnExpiries } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { isFinal } from "./notices.ts";
import { isAhead } from "./period.ts";
import type { Wallet } from "./wallet.ts";

/**
 * Writes due expiries for an idle wallet, without granting anything. If a due hold must be charged, the wallet is instead brought up to
 * date as if by a request, because the charge must not wait for the next request. If webhooks receive notices, they could get a notice
 * about a balance that the next allowance restores. Such a wallet is left alone until a notice is due, and then also brought up to date.
 * Null if there is no entry to write.
 */
export function expireDue(catalog: Catalog, wallet: Wallet, clock: Instant): Change | null {
  const draft = new Draft(catalog, wallet);
  const now = decisionTime(catalog, wallet, clock);
  const isCharging = wallet.holds.some(
    ({ onExpiry, expiresAt }) => onExpiry === "charge" && expiresAt <= now,
  );
  if (isCharging) catchUp(catalog, draft, now);
  else catchUpOnExpiries(catalog, draft, now);
  const change = withEntries(draft.finish(draft.at));
  if (catalog.noticeTypes.size === 0) return change;
  const next = new Draft(catalog, wallet);
  catchUp(catalog, next, now);
  const isFinished = change !== null && change.assignments.length === 0;
  if (isFinished && change.notices.every((notice) => isFinal(notice, next.wallet, catalog))) return change;
  const whole = withEntries(next.finish(now));
  return whole === null || whole.notices.length === 0 ? null : whole;
}

function withEntries(change: Change | null): Change | null {
  return change === null || change.entries.length === 0 ? null : change;
}

/** A quick pre-check without the catalog. If it returns false, `expireDue` returns null. If true, `expireDue` must decide. */
export function mayHaveExpired({ grants, assignment, holds }: Wallet, clock: Instant): boolean {
  const endsAt = assignment?.endsAt ?? null;
  return (
    holds.some(({ expiresAt }) => expiresAt <= clock) ||
    (endsAt !== null && endsAt <= clock) ||
    grants.some(({ expiresAt, remaining }) => remaining > 0 && !isAhead(expiresAt, clock))
  );
}
