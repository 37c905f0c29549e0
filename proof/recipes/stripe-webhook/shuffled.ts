export const SEEDS = [1, 2, 3, 4];

/** As a bad day delivers them: each event three times, in an order that the seed decides. */
export function shuffled<T>(events: readonly T[], seed: number): T[] {
  const deliveries = [...events, ...events, ...events];
  let state = seed + 1;
  for (let last = deliveries.length - 1; last > 0; last--) {
    // Park and Miller's generator: small, and good enough for an order.
    state = (state * 48_271) % 2_147_483_647;
    const other = state % (last + 1);
    [deliveries[last], deliveries[other]] = [deliveries[other], deliveries[last]] as [T, T];
  }
  return deliveries;
}
