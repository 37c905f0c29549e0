/** Joins what is there: `classNames("p-2", isOpen && "bg-hover")`. */
export function classNames(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}
