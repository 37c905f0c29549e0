import type { Body } from "../../api/answer.ts";
import { randomHex } from "../../format/hex.ts";
import { readPrice, readWhole } from "../../format/numbers.ts";
import { type Clock, readMoment } from "../../format/times.ts";

export type CreditsBody = Body<"addCredits">;

/** Raw form values. */
export type CreditsForm = {
  credits: string;
  kind: CreditsBody["kind"];
  pool: string;
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
  { clock, ownReference }: { clock: Clock; ownReference: string },
): { body: CreditsBody; errors: null } | { body: null; errors: CreditsErrors } {
  const credits = readCredits(form.credits);
  const expiresAt = readMoment(form.expires, clock);
  const isPriced = form.kind === "purchase" && form.price.trim() !== "";
  const price = isPriced ? readPrice(form.price, form.currency) : null;
  const note = form.note.trim();
  const errors: CreditsErrors = {
    ...(credits === null ? { credits: "Enter a whole number of 1 or more." } : {}),
    ...(form.expires !== "" && expiresAt === null ? { expires: "Enter a date and time." } : {}),
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

function readCredits(text: string): number | null {
  const credits = Number(readWhole(text) ?? 0);
  return credits >= 1 && Number.isSafeInteger(credits) ? credits : null;
}

export const OWN = "dashboard:";

/** The reference entered by a person; generated references are hidden. */
export function givenReference(reference: string | null): string | null {
  return reference?.startsWith(OWN) ? null : reference;
}

/** Reference for one opened form: double clicks and retries share it, reopening the form creates a new one. */
export function newOwnReference(): string {
  return `${OWN}${randomHex(10)}`;
}
