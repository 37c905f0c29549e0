const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** The current month and the months before it, oldest first. */
export function lastMonths(count: number): string[] {
  const now = new Date();
  return Array.from({ length: count }, (_, i) =>
    monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (count - 1 - i), 1))),
  );
}
