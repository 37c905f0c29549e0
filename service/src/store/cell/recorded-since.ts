/**
 * Since when entries that happened from a moment on were recorded: SQL, only so that older parts of the table stay closed. An
 * entry is recorded after it happened, but for those after a failover to a slower clock, which have an index of their own.
 */
export function recordedSince({ environment, from }: { environment: string; from: string }): string {
  return `(
        select least(${from}::timestamptz, min(a.recorded_at))
        from cell.ledger as a
        where a.environment_id = ${environment}
          and a.effective_at >= ${from}::timestamptz
          and a.effective_at > a.recorded_at
      )`;
}
