import type { CustomerFilters } from "./queries.ts";

/** What is sound of an address, or of what somebody entered; the rest is left out. */
export function readFilters(search: Record<string, unknown>): CustomerFilters {
  const text = (name: string): string => {
    const value = search[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const [wanted, plan, below, { blocked }] = [text("search"), text("plan"), text("balanceBelow"), search];
  return {
    ...(wanted === "" ? {} : { search: wanted }),
    ...(plan === "" ? {} : { plan }),
    ...(typeof blocked === "boolean" ? { blocked } : {}),
    ...(/^\d{1,15}$/.test(below) ? { balanceBelow: Number(below) } : {}),
  };
}
