export type Part = { readonly grant: number; readonly amount: number };

const PARTS = /^(\d+:-?\d+(,\d+:-?\d+)*)?$/;

/** From `grant:amount,…`; null when it is not in that form. */
export function findParts(text: string): readonly Part[] | null {
  if (!PARTS.test(text)) return null;
  if (text === "") return [];
  return text.split(",").map((part) => {
    const [grant, amount] = part.split(":");
    return { grant: Number(grant), amount: Number(amount) };
  });
}
