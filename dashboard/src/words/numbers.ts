/** With separators, as everywhere: 1,250. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Signed, with a real minus: +500, −12. */
export function formatChange(change: number): string {
  const size = formatCount(Math.abs(change));
  return change > 0 ? `+${size}` : change < 0 ? `−${size}` : "0";
}

/** "40 → 70", which never breaks over two lines. */
export function formatStep(before: number, after: number): string {
  return `${formatCount(before)}\u00a0→\u00a0${formatCount(after)}`;
}

/** "1 credit", "2 credits". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const shown = bytes / 1000 ** power;
  return `${shown.toLocaleString("en-US", { maximumFractionDigits: shown < 10 && power > 0 ? 1 : 0 })} ${UNITS[power]}`;
}

/** Of a currency's smallest unit: 3,900 of USD are $39.00, and 3,900 of JPY are ¥3,900. */
export function formatPrice({ amount, currency }: { amount: number; currency: string }): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
