/** Joins class names and skips empty ones: `classNames("p-2", isOpen && "bg-hover")`. */
export function classNames(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}
