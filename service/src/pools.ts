import type { PoolCounts } from "./edge/metrics.ts";
import { type OpenPool, openPool } from "./postgres/pool.ts";

/** Connection pools. Lanes and the reader have other connections. docs/operations/sizing.md states the total. */
export const POOLS = {
  keys: { name: "keys", sizeMax: 4 },
  // Separate pool, so that dashboard queries cannot delay API key lookups.
  manage: { name: "manage", sizeMax: 8 },
  // Separate pool with a connection per job, so that slow dashboard queries or jobs cannot delay the roll-ups.
  jobs: { name: "jobs", sizeMax: 4 },
  // Separate pool, so that loading a large catalog delays only the requests that need it.
  catalogs: { name: "catalogs", sizeMax: 2 },
  // Separate pool, so that many webhooks cannot delay the jobs.
  webhooks: { name: "webhooks", sizeMax: 1 },
} as const;

type Pools = Readonly<Record<keyof typeof POOLS, OpenPool>>;

export function openPools(url: string, onIdleError: (error: Error) => void): Pools {
  const open = (pool: keyof typeof POOLS) => openPool({ url, ...POOLS[pool], onIdleError });
  return {
    keys: open("keys"),
    manage: open("manage"),
    jobs: open("jobs"),
    catalogs: open("catalogs"),
    webhooks: open("webhooks"),
  };
}

export function countsOf(pools: Pools): Readonly<Record<string, PoolCounts>> {
  return Object.fromEntries(
    Object.values(POOLS).map(({ name, sizeMax }) => {
      const { totalCount, idleCount, waitingCount } = pools[name];
      return [name, { totalCount, idleCount, waitingCount, sizeMax }];
    }),
  );
}
