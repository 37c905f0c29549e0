import { readWhole } from "./typed-numbers.ts";

/** How many digits a currency's smallest unit stands behind the point: 2 of EUR, 0 of JPY. Null: no such currency. */
function digitsOf(currency: string): number | null {
  try {
    const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
    return format.resolvedOptions().maximumFractionDigits ?? null;
  } catch {
    return null;
  }
}

/** "49" and "49.90" EUR as 4900 and 4990: in the smallest unit, without rounding. Null where it is no such price. */
export function readPrice(text: string, currency: string): { amount: number; currency: string } | null {
  const digits = digitsOf(currency);
  const [, before = "", part = ""] = /^([^.]+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  const whole = readWhole(before);
  if (digits === null || whole === null || part.length > digits) return null;
  const amount = Number(`${whole}${part.padEnd(digits, "0")}`);
  return Number.isSafeInteger(amount) ? { amount, currency: currency.toUpperCase() } : null;
}
