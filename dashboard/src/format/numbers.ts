/** With thousands separators: 1,250. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** With a sign: +500, −12. */
export function formatChange(change: number): string {
  const size = formatCount(Math.abs(change));
  return change > 0 ? `+${size}` : change < 0 ? `−${size}` : "0";
}

/** "40 → 70", without a line break. */
export function formatStep(before: number, after: number): string {
  return `${formatCount(before)}\u00a0→\u00a0${formatCount(after)}`;
}

/** "1 credit", "2 credits". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** "250", or "Credits 250 / Video minutes 40" with several pools. */
export function formatBalances(
  balances: readonly { readonly pool: string; readonly balance: number }[],
  nameOf: (pool: string) => string,
): string {
  const hasNames = balances.length > 1;
  return (
    balances
      .map(({ pool, balance }) => `${hasNames ? `${nameOf(pool)} ` : ""}${formatCount(balance)}`)
      .join(" / ") || "0"
  );
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const shown = bytes / 1000 ** power;
  return `${shown.toLocaleString("en-US", { maximumFractionDigits: shown < 10 && power > 0 ? 1 : 0 })} ${UNITS[power]}`;
}

/** From the smallest unit of the currency: 3,900 USD is $39.00, 3,900 JPY is ¥3,900. */
export function formatPrice({ amount, currency }: { amount: number; currency: string }): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** "1500", "1,500" and "1 500" as "1500". Null for any other text, such as the decimal "49,90". */
export function readWhole(text: string): string | null {
  const plain = text.trim();
  return /^(\d+|\d{1,3}([,\s]\d{3})+)$/.test(plain) ? plain.replaceAll(/[,\s]/g, "") : null;
}

/** Decimal digits of a currency: 2 for EUR, 0 for JPY. Null if unknown. */
function digitsOf(currency: string): number | null {
  try {
    const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
    return format.resolvedOptions().maximumFractionDigits ?? null;
  } catch {
    return null;
  }
}

/** Amount in the smallest unit, without rounding: "49.90" EUR is 4990. Null if it is not a valid price. */
export function readPrice(text: string, currency: string): { amount: number; currency: string } | null {
  const digits = digitsOf(currency);
  const [, before = "", part = ""] = /^([^.]+)(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  const whole = readWhole(before);
  if (digits === null || whole === null || part.length > digits) return null;
  const amount = Number(`${whole}${part.padEnd(digits, "0")}`);
  return Number.isSafeInteger(amount) ? { amount, currency: currency.toUpperCase() } : null;
}

/** Footer of a list: "All 12 customers", "First 50 customers", "1 result". */
export function listEnd({ shown, what, hasMore }: { shown: number; what: string; hasMore: boolean }): string {
  if (shown === 0) return hasMore ? "None so far" : "None";
  if (shown === 1) return hasMore ? "First result" : "1 result";
  return `${hasMore ? "First" : "All"} ${formatCount(shown)} ${what}`;
}
