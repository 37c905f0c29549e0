import { invalidField } from "../fields.ts";

export const EMAIL_LENGTH_MIN = 3;
export const EMAIL_LENGTH_MAX = 254;
/** This pattern accepts almost any address, because Purser does not send email. */
export const EMAIL_PATTERN = "^[^\\s@]+@[^\\s@]+$";

export function isEmail(text: string): boolean {
  return text.toLowerCase().length <= EMAIL_LENGTH_MAX && new RegExp(EMAIL_PATTERN, "u").test(text);
}

/** Returns the email in lower case. Checks the length again, because some letters become longer in lower case. */
export function readEmail(text: string): string {
  if (isEmail(text)) return text.toLowerCase();
  throw invalidField({
    field: "email",
    code: "too_long",
    message: `must have at most ${EMAIL_LENGTH_MAX} characters`,
  });
}
