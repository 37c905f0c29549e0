import type { Body } from "../../api/answer.ts";
import { randomHex } from "../../format/hex.ts";
import { readPrice, readWhole } from "../../format/numbers.ts";
import { type Clock, readMoment } from "../../format/times.ts";

export type CreditsBody = Body<"addCredits">;

/** As the boxes of the form hold it. */
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

/** What the form asks the API for, or what is wrong with it. */
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
    ...(credits === null ? { credits: "A whole number, 1 or more." } : {}),
    ...(form.expires !== "" && expiresAt === null ? { expires: "A day and a time." } : {}),
    ...(isPriced && price === null ? { price: `An amount of ${form.currency || "a currency"}.` } : {}),
  };
  if (credits === null || Object.keys(errors).length > 0) return { body: null, errors };
  return {
    errors: null,
    body: {
      credits,
      kind: form.kind,
      pool: form.pool,
      // Never without one: whatever happens to the answer, these credits are added once.
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

const OWN = "dashboard:";

/** What somebody gave as the reference; a form's own one says nothing to people. */
export function givenReference(reference: string | null): string | null {
  return reference?.startsWith(OWN) ? null : reference;
}

/** Names one opened form: two clicks, or a try after a lost answer, are the same wish; opening it anew is another. */
export function newOwnReference(): string {
  return `${OWN}${randomHex(10)}`;
}
