import { invalidField } from "../fields.ts";

/** What a list names twice has no one meaning. `path` names the list, `field` what its items are known by. */
export function refuseRepeats<F extends string>(
  path: string,
  field: F,
  items: readonly { readonly [K in F]: string }[],
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = item[field];
    if (seen.has(key)) {
      const message = "names what an item before it has named already";
      throw invalidField({ field: `${path}.${index}.${field}`, code: "repeated", message });
    }
    seen.add(key);
  }
}
