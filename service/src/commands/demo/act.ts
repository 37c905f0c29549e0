import type { GrantKind } from "../../entitlement/wallet.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import type { GrantOrigin } from "../../store/cell/grants.ts";

/** A runtime request or management operation for one customer. */
export type Act = { readonly at: Instant } & (RuntimeAct | ManageAct);

export type RuntimeAct =
  | { readonly kind: "check"; readonly feature: string; readonly quantity: number }
  | {
      readonly kind: "consume";
      readonly feature: string;
      readonly quantity: number;
      readonly memberId?: string;
      readonly metadata: object;
      readonly key: string;
    }
  | {
      readonly kind: "hold";
      readonly feature: string;
      readonly quantity: number;
      readonly memberId?: string;
      readonly metadata: object;
      readonly key: string;
      readonly expiresInSeconds: number;
    }
  /** Settles the hold that was opened with this key. */
  | { readonly kind: "settle"; readonly key: string; readonly quantity: number }
  | {
      readonly kind: "event";
      readonly event: string;
      readonly quantity: number;
      readonly memberId?: string;
      readonly metadata: object;
      /** Key of a consume request. If that request was denied, the event is not sent. Null if the event is always sent. */
      readonly ifAllowed: string | null;
    };

export type ManageAct =
  | { readonly kind: "assign"; readonly plan: string; readonly endsAt: Instant | null }
  | ({
      readonly kind: "add_credits";
      readonly by: "billing" | "support";
      readonly grant: Exclude<GrantKind, "allowance">;
      readonly credits: number;
      readonly expiresAt: Instant | null;
    } & GrantOrigin)
  /** Reverses the charge that was made with this key. */
  | { readonly kind: "reverse"; readonly key: string };

export const DAY_MS = 86_400_000;

/** Slightly less than the retention period of the request log, so that the first purge deletes nothing. */
export const LOG_DAYS = 6.9;

/** First day of the demo's history, in days before today. */
export const FIRST_DAY = 59;

/** Returns a UTC time some days ago: `timeOn(now, 2, "14:03:27.518")` is on the day before yesterday. */
export function timeOn(now: Instant, daysAgo: number, time: string): Instant {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  const midnight = Math.floor(now / DAY_MS) * DAY_MS - daysAgo * DAY_MS;
  return brandAs<Instant>(midnight + Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000));
}
