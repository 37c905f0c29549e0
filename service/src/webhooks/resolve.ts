import { type LookupAddress, type LookupAllOptions, lookup, NODATA, Resolver } from "node:dns";

/** Finds all addresses of a host name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const QUERY_MS = 2_000;
const OTHER_FAMILY_MS = 1_000;

/**
 * Asks the DNS servers over the network. `dns.lookup` would wait for a dead server on a thread that it shares with the lookups of all other
 * connections, such as those to the database, and could not be cancelled. `servers` are for tests.
 */
export function resolvePublic(servers: readonly string[] | null = null): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  return (hostname, _, callback) => {
    const asked = [find(resolver, hostname, 4), find(resolver, hostname, 6)];
    // An address family that does not respond delays the other one only briefly.
    const late = Promise.any(asked).then(
      () => new Promise<never>((_, reject) => setTimeout(reject, OTHER_FAMILY_MS, new Error("late")).unref()),
    );
    Promise.allSettled(asked.map((one) => Promise.race([one, late]))).then((results) => {
      const addresses = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      const error = errors.find(({ code }) => code !== NODATA) ?? errors[0] ?? null;
      callback(addresses.length === 0 ? error : null, addresses);
    });
  };
}

function find(resolver: Resolver, hostname: string, family: 4 | 6): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, addresses: readonly string[]): void =>
      error === null ? resolve(addresses.map((address) => ({ address, family }))) : reject(error);
    if (family === 4) resolver.resolve4(hostname, settle);
    else resolver.resolve6(hostname, settle);
  });
}

/**
 * Asks the operating system, which also knows the names of a private network. One lookup at a time, so that another thread remains free.
 */
export function lookUpInTurn(ask: Resolve = lookup): Resolve {
  const asked = new Map<string, Promise<LookupAddress[]>>();
  let last: Promise<unknown> = Promise.resolve();
  const start = (hostname: string, options: LookupAllOptions): Promise<LookupAddress[]> => {
    const found = last.then(
      () =>
        new Promise<LookupAddress[]>((resolve, reject) => {
          ask(hostname, options, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
        }),
    );
    last = found.catch(() => {}).finally(() => asked.delete(hostname));
    asked.set(hostname, found);
    return found;
  };
  return (hostname, options, callback) => {
    (asked.get(hostname) ?? start(hostname, options)).then(
      (addresses) => callback(null, addresses),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
