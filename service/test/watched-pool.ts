import { onTestFinished } from "vitest";
import type { Pool } from "../src/postgres/pool.ts";
import { openTestPool } from "./seed.ts";

/** Opens a pool that calls `onRun` with the name of each statement before the statement runs. */
export function openWatchedPool(url: string, onRun: (name: string) => Promise<void>): Pool {
  const pool = openTestPool(url);
  onTestFinished(() => pool.end());
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...asked: unknown[]) => Promise<unknown>;
    const watched = async (...asked: unknown[]): Promise<unknown> => {
      const [statement] = asked as [{ readonly name?: string } | string];
      await onRun(typeof statement === "string" ? "" : (statement.name ?? ""));
      return query(...asked);
    };
    Object.assign(client, { query: watched });
  });
  return pool;
}
