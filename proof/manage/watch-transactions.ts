import { DATABASE, type ProofServer, pause } from "./server.ts";

/** How long the service's longest transaction was seen to last. */
export function watchTransactions(server: ProofServer): { stop(): Promise<number> } {
  let isWatching = true;
  const watching = (async () => {
    let msMax = 0;
    while (isWatching) {
      const [row = {}] = await server.query(
        DATABASE,
        `select coalesce(max(extract(epoch from clock_timestamp() - xact_start) * 1000), 0) as ms
         from pg_stat_activity
         where application_name = 'purser manage' and xact_start is not null and state <> 'idle'`,
      );
      msMax = Math.max(msMax, Number(row["ms"]));
      await pause(20);
    }
    return msMax;
  })();
  return {
    stop: () => {
      isWatching = false;
      return watching;
    },
  };
}
