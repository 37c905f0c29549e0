import { formatCount } from "./numbers.ts";

/** What the end of a list says of it: "All 12 customers", "The first 50 customers". */
export function listEnd({ shown, what, hasMore }: { shown: number; what: string; hasMore: boolean }): string {
  if (shown === 0) return hasMore ? "None so far" : "None";
  if (shown === 1) return hasMore ? "The first one" : "The only one";
  return `${hasMore ? "The first" : "All"} ${formatCount(shown)} ${what}`;
}
