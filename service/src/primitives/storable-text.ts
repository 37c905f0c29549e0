/** Whether PostgreSQL and JSON can both store a string. Neither accepts NUL characters or lone surrogates. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The field error for a string that cannot be stored. */
export const UNSTORABLE_TEXT = "contains a NUL character or a lone surrogate";
