/** What the address says, read with care: anybody can write anything there. */
export function readText(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name];
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text === "" ? undefined : text;
}

/** Only what the choice knows. */
export function readChoice<const T extends string>(
  search: Record<string, unknown>,
  name: string,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice === search[name]);
}

/** Whether all the words stand somewhere in the texts. */
export function matches(search: string | undefined, ...texts: readonly (string | null)[]): boolean {
  const text = texts.join(" ").toLowerCase();
  return (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
