import type { Body } from "../../api/answer.ts";
import { randomHex } from "../../format/hex.ts";
import { readPrice, readWhole } from "../../format/numbers.ts";
import { type Clock, momentText, readMoment, startOf } from "../../format/times.ts";

export type CreditsBody = Body<"addCredits">;

export const EXPIRIES = [
  { value: "never", name: "Never" },
  { value: "30-days", name: "30 days" },
  { value: "month", name: "End of month" },
  { value: "year", name: "End of year" },
  { value: "date", name: "Date" },
] as const;

export type Expiry = (typeof EXPIRIES)[number]["value"];

/** Raw form values. */
export type CreditsForm = {
  credits: string;
  kind: CreditsBody["kind"];
  pool: string;
  expiry: Expiry;
  /** Used if `expiry` is "date". */
  expires: string;
  reference: string;
  price: string;
  currency: string;
  note: string;
};

export type CreditsErrors = Partial<Record<keyof CreditsForm, string>>;

/** The request body, or the validation errors. */
export function readCreditsForm(
  form: CreditsForm,
  { ownReference, ...opened }: Opened & { ownReference: string },
): { body: CreditsBody; errors: null } | { body: null; errors: CreditsErrors } {
  const credits = readCredits(form.credits);
  const expiresAt = readExpiry(form, opened);
  const isPriced = form.kind === "purchase" && form.price.trim() !== "";
  const price = isPriced ? readPrice(form.price, form.currency) : null;
  const note = form.note.trim();
  const errors: CreditsErrors = {
    ...(credits === null ? { credits: "Enter a whole number of 1 or more." } : {}),
    ...(form.expiry === "date" && expiresAt === null ? { expires: "Enter a date and time." } : {}),
    ...(isPriced && price === null
      ? {
          price:
            form.currency === ""
              ? "Enter a currency code, such as EUR."
              : `Enter an amount in ${form.currency}.`,
        }
      : {}),
  };
  if (credits === null || Object.keys(errors).length > 0) return { body: null, errors };
  return {
    errors: null,
    body: {
      credits,
      kind: form.kind,
      pool: form.pool,
      // Always set, so that a retry never adds the credits twice.
      reference: form.reference.trim() || ownReference,
      ...(expiresAt === null ? {} : { expiresAt }),
      ...(price === null ? {} : { price }),
      ...(note === "" ? {} : { note }),
    },
  };
}

const MINUTE_MS = 60_000;
const THIRTY_DAYS_MS = 30 * 24 * 60 * MINUTE_MS;

type Opened = {
  clock: Clock;
  openedAt: number;
  /** Whether "30 days" lasts until the end of the last day, so that the expiry does not depend on the time of day. */
  endsWithDay?: boolean;
};

/** When the credits expire. Null for never. Presets count from the time the form was opened, so that a retry sends the same expiry. */
export function readExpiry(
  { expiry, expires }: Pick<CreditsForm, "expiry" | "expires">,
  { clock, openedAt, endsWithDay = false }: Opened,
): string | null {
  const iso = (at: number): string => new Date(at).toISOString();
  switch (expiry) {
    case "never":
      return null;
    case "30-days":
      if (endsWithDay) return iso(startOf("day", openedAt + THIRTY_DAYS_MS, clock, 1));
      return iso(Math.ceil((openedAt + THIRTY_DAYS_MS) / MINUTE_MS) * MINUTE_MS);
    case "month":
      return iso(startOf("month", openedAt, clock, 1));
    case "year": {
      const month = Number(momentText(openedAt, clock).slice(5, 7));
      return iso(startOf("month", openedAt, clock, 13 - month));
    }
    default:
      return readMoment(expires, clock);
  }
}

function readCredits(text: string): number | null {
  const credits = Number(readWhole(text) ?? 0);
  return credits >= 1 && Number.isSafeInteger(credits) ? credits : null;
}

export const OWN = "dashboard:";

/** The reference that a person entered. Null for generated references, which are hidden. */
export function givenReference(reference: string | null): string | null {
  return reference?.startsWith(OWN) ? null : reference;
}

/** Creates the reference for one opened form. Double clicks and retries of that form use the same reference. */
export function newOwnReference(): string {
  return `${OWN}${randomHex(10)}`;
}
