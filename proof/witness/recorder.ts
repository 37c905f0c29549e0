import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply as Sent, send } from "../harness/caller.ts";
import { THIS_TREE } from "../harness/purser.ts";
import { Pseudonyms } from "./pseudonyms.ts";
import type { World } from "./world.ts";

/** The record of one call or one table, compared line by line. */
export type Section = { readonly title: string; readonly lines: readonly string[] };

export type Reply = Sent & { readonly body: unknown };

export type CallOptions = {
  /** Sent as JSON. A string is sent unchanged. */
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Tables and columns that are not compared, with the reason. */
const NOT_COMPARED: ReadonlyMap<string, string> = new Map([
  ["control.migrations", "the trees may have different migrations"],
  ["cell.migrations", "the trees may have different migrations"],
  ["cell.request_log", "may lose rows, and contains times of the process"],
  ["cell.request_counts", "written by a timer, with the hour of the write"],
  ["cell.usage_progress", "transaction IDs, which jobs also consume"],
  ["cell.sweeps", "the progress of jobs, which depends on when they run"],
  ["transaction_number", "jobs also consume transaction IDs"],
  ["written_by", "a transaction ID"],
  ["last_used_at", "written by a timer"],
]);

/** Columns of type uuid that contain hashes of requests. They are compared unchanged. */
const HASHES: ReadonlySet<string> = new Set(["key_hash", "fingerprint"]);

/** Values that depend on timers or durations: last use, progress of the roll-ups, and fields of the request log. */
const TIMED = new RegExp(
  [
    /(?<="(?:lastUsedAt|completeTo|durationMs)":)(?:"[^"]*"|[\d.]+|null)/,
    /(?<=(?:"requestId":"[^"]*"|"kind":"logged","id":"[^"]*"),"recordedAt":)"[^"]*"/,
    /(?<="requests":\d+,"lastSeenAt":)"[^"]*"/,
    // Null if the customer did not exist when the log was written.
    /(?<="customerId":)(?:"[^"]*"|null)(?=,"durationMs")/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);
/** Lists sorted by a timed value or by equal counts. They are compared as sets. */
const UNORDERED: ReadonlySet<string> = new Set([
  "listSessions",
  "readMemberAccess",
  "listCustomerRequests",
  "summarizeRequests",
]);
/** Positions between the items of a list. */
const ITEMS = /(?<=\[)(?=\{)|(?<=\}),(?=\{)|(?<=\})(?=\])/;
/** Requests are counted in the hour in which a timer wrote them. */
const HOUR = '{"hour":';
/** The response of this operation describes the process and the server, so only its field names are compared. */
const HEALTH = "readHealth";

const HEADERS_NOT_COMPARED = new Set([
  "date",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  // Estimated by the planner.
  "purser-rows-estimate",
]);

/** The clock advances by this before each call. */
const CALL_MS = 1;

/** Calls the service of one tree and records every response and, on request, every row. */
export class Recorder {
  readonly world: World;
  readonly sections: Section[] = [];
  /** How many calls to each operation succeeded and how many were rejected. */
  readonly coverage: ReadonlyMap<string, { succeeded: number; refused: number }>;
  /** Denial reasons that consumes returned. */
  readonly reasons = new Set<string>();
  /** Calls that returned a 5xx. */
  readonly faults: string[] = [];
  readonly #pseudonyms = new Pseudonyms();
  readonly #except: ReadonlySet<string>;
  calls = 0;

  constructor(world: World, except: readonly string[]) {
    this.world = world;
    this.#except = new Set(except);
    this.coverage = new Map(OPERATIONS.map(({ id }) => [id, { succeeded: 0, refused: 0 }]));
  }

  async call(
    method: string,
    path: string,
    { body, token = null, headers = {} }: CallOptions = {},
  ): Promise<Reply> {
    this.calls += 1;
    this.world.clock.advance(CALL_MS);
    const named = { "x-request-id": `call-${this.calls}`, ...headers };
    const sent = await send(`${this.world.url}${path}`, method, { body, headers: named, secret: token });
    const reply = { ...sent, body: parse(sent.text) };
    const id = operationOf(method, path);
    const counts = this.coverage.get(id);
    if (counts !== undefined) counts[reply.status < 300 ? "succeeded" : "refused"] += 1;
    if (id === "consume") this.reasons.add(String(Object(reply.body)["reason"]));
    if (reply.status >= 500) this.faults.push(`call ${this.calls}, ${id}: ${reply.status}`);
    this.#record(id, `${method} ${path}`, body, reply);
    return reply;
  }

  #record(id: string, call: string, body: unknown, { status, headers, text, body: answer }: Reply): void {
    const sent = body === undefined ? [] : [typeof body === "string" ? body : JSON.stringify(body)];
    const compared = [...headers].filter(
      ([name]) => !HEADERS_NOT_COMPARED.has(name) && !this.#except.has(name),
    );
    const shown = id === HEALTH ? JSON.stringify(Object.keys(Object(answer))) : text;
    const comparable = this.#leaveOut(shown.replaceAll(TIMED, '"~"'));
    const title = this.#pseudonyms.replace(`call ${this.calls}, ${id}: ${call}`);
    const head = [...sent, `status: ${status}`, ...compared.map(([name, value]) => `${name}: ${value}`)];
    this.sections.push({
      title,
      lines: [
        ...head.map((line) => this.#pseudonyms.replace(line)),
        ...(UNORDERED.has(id)
          ? this.#pseudonyms.replaceRows(comparable.split(ITEMS).filter((item) => !item.startsWith(HOUR)))
          : // Adds line breaks only, so that the bytes are still compared.
            this.#pseudonyms.replace(comparable).replaceAll(',"', ',\n"').split("\n")),
      ],
    });
  }

  /** Replaces the fields of responses that `--except` names. */
  #leaveOut(text: string): string {
    if (this.#except.size === 0) return text;
    return text.replaceAll(/"(\w+)":"(?:[^"\\]|\\.)*"/g, (member, name: string) =>
      this.#except.has(name) ? `"${name}":"~"` : member,
    );
  }

  /** Every row of every table. */
  async recordRows(): Promise<void> {
    const columns = await this.world.query(`
      select n.nspname || '.' || c.relname as "table", a.attname as "column"
      from pg_class as c
      join pg_namespace as n on n.oid = c.relnamespace
      join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where n.nspname in ('control', 'cell') and c.relkind in ('r', 'p') and not c.relispartition
      order by 1, 2`);
    for (const [table, its] of Map.groupBy(columns, ({ table }) => String(table))) {
      if (this.#isLeftOut(table)) continue;
      const compared = its
        .map(({ column }) => String(column))
        .filter((column) => !this.#isLeftOut(column) && !this.#isLeftOut(`${table}.${column}`));
      const list = compared.map((name) =>
        HASHES.has(name) ? `replace("${name}"::text, '-', '') as "${name}"` : `"${name}"::text`,
      );
      const rows = await this.world.query(`select ${list.join(", ")} from ${table}`);
      const texts = rows.map((row) => JSON.stringify(row).replaceAll("\\\\x", "\\x"));
      this.sections.push({
        title: `rows of ${table} after call ${this.calls}`,
        lines: this.#pseudonyms.replaceRows(texts),
      });
    }
  }

  #isLeftOut(name: string): boolean {
    return NOT_COMPARED.has(name) || this.#except.has(name);
  }
}

type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly form: RegExp;
};

/** All operations of this tree. */
export const OPERATIONS: readonly Operation[] = ["runtime", "manage"].flatMap((api) => {
  const text = readFileSync(join(THIS_TREE, `openapi/${api}.json`), "utf8");
  const { paths }: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(text);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      form: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
});

/** The ID of the operation, or "no operation" for a wrong path. */
function operationOf(method: string, path: string): string {
  const [bare = ""] = path.split("?", 1);
  const fitting = OPERATIONS.filter((operation) => operation.method === method && operation.form.test(bare));
  // Prefers the path with fewer parameters if several match.
  return (
    fitting.toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)[0]?.id ?? "no operation"
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
