import type { Instant } from "../primitives/brand.ts";
import type { Catalog } from "./catalog.ts";
import { catchUp, catchUpOnExpiries } from "./catch-up.ts";
import { Draft, decisionTime } from "./draft.ts";
import type { Change } from "./entry.ts";
import { staysCrossed } from "./notices.ts";
import { isAhead } from "./period.ts";
import type { Wallet } from "./wallet.ts";

/**
 * Writes due expiries for an idle wallet, and grants nothing. If a due hold must be charged, the wallet is instead brought up to date as
 * if by a request, because the charge must not wait for the next request. Null if there is no entry to write.
 */
export function expireDue(catalog: Catalog, wallet: Wallet, clock: Instant): Change | null {
  const draft = new Draft(catalog, wallet);
  const now = decisionTime(catalog, wallet, clock);
  const isCharging = wallet.holds.some(
    ({ onExpiry, expiresAt }) => onExpiry === "charge" && expiresAt <= now,
  );
  if (isCharging) catchUp(catalog, draft, now);
  else catchUpOnExpiries(catalog, draft, now);
  const change = draft.finish(draft.at);
  if (change === null || change.entries.length === 0) return null;
  if (change.notices.length === 0) return change;
  const next = new Draft(catalog, wallet);
  catchUp(catalog, next, now);
  const notices = change.notices.filter((notice) => staysCrossed(notice, next.wallet, catalog));
  return { ...change, notices };
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
