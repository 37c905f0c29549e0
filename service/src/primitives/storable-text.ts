/** Whether PostgreSQL and JSON can both store a text: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The field error for a text that is not storable. */
export const UNSTORABLE_TEXT = "contains a NUL character or a lone surrogate";
