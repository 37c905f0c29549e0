import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { databaseAt } from "../harness/database.ts";
import { startLoop } from "../harness/loop.ts";

const PAUSE_MS = 20;
const CONNECT_MAX_MS = 500;
/** Timeout of a commit that waits for a standby. */
const WRITE_MAX_MS = 1_000;

/** Writes one row at a time through the proxy, without Purser, to measure how long the cluster itself refuses writes. */
export class Probe {
  /** When a write succeeded, in milliseconds of this process's monotonic clock. */
  readonly writtenAtMs: number[] = [];
  readonly #url: string;
  #client: pg.Client | null = null;

  static async start(url: string, stack: AsyncDisposableStack): Promise<Probe> {
    await databaseAt(url).query("create table probe (number bigint generated always as identity)");
    const probe = new Probe(url);
    const loop = startLoop(() => probe.#write());
    stack.defer(() => loop.stop());
    return probe;
  }

  private constructor(url: string) {
    this.#url = url;
  }

  async #write(): Promise<void> {
    try {
      this.#client ??= await this.#open();
      await this.#client.query("insert into probe default values");
      this.writtenAtMs.push(performance.now());
    } catch {
      this.#client?.connection.stream.destroy();
      this.#client = null;
    }
    await pause(PAUSE_MS);
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_MAX_MS,
      query_timeout: WRITE_MAX_MS,
    });
    client.on("error", () => {});
    await client.connect();
    return client;
  }
}
