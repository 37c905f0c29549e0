import { inject } from "vitest";
import { assert } from "../src/primitives/assert.ts";
import { type Credits, openCredits, setupCredits } from "./credits.ts";
import { type Reply, setupSeeded, type TestDatabase } from "./harness.ts";
import { seedPeople, type Tokens } from "./seed.ts";

export type CallOptions = {
  readonly body?: unknown;
  /** A management token. The default is the owner's token; null sends none. */
  readonly token?: string | null;
  readonly headers?: Record<string, string>;
};

export type Managed = Credits & {
  /** Tokens for the whole workspace, by role. */
  readonly tokens: Tokens;
  /** The path of the test environment: `/manage/v1/projects/1/test`. */
  readonly here: string;
  /** Calls the management API. A path without a leading slash is relative to the test environment. */
  manage(method: string, path: string, options?: CallOptions): Promise<Reply>;
};

/** `setupCredits` with an owner and a management token for each role. */
export async function setupManage(
  overrides: Record<string, string> = {},
  database?: TestDatabase,
): Promise<Managed> {
  if (database === undefined) return setupManageOn("purser_managed", overrides);
  const credits = await setupCredits(overrides, undefined, database);
  return openManaged(credits, await seedPeople(credits.cell));
}

/** `setupManage` on a copy of a database that was prepared with it. */
export async function setupManageOn(
  template: Parameters<typeof setupSeeded>[0],
  overrides: Record<string, string> = {},
): Promise<Managed> {
  return openManaged(openCredits(await setupSeeded(template, overrides)), inject("seeded").tokens);
}

function openManaged(credits: Credits, tokens: Tokens): Managed {
  const { service, project } = credits;
  const here = `/manage/v1/projects/${project.projectId}/test`;
  return {
    ...credits,
    tokens,
    here,
    manage: (method, path, options = {}) =>
      send(`${service.url}${path.startsWith("/") ? path : `${here}/${path}`}`, method, {
        token: tokens.owner,
        ...options,
      }),
  };
}

/** Gives seeded features and the customer "ada" names that differ from their keys. */
export async function nameSeeds({ manage }: Managed): Promise<void> {
  const headers = { "if-match": "*" };
  const image = { name: "Product image", cost: { credits: 10 } };
  const exports = { name: "HD export", unit: "export", cost: { credits: 0 } };
  const replies = [
    await manage("PUT", "features/image.render", { body: image, headers }),
    await manage("PUT", "features/export", { body: exports, headers }),
    await manage("PUT", "customers/ada", { body: { name: "Ada Films" } }),
  ];
  assert(
    replies.every(({ status }) => status === 200),
    "the seeds are named",
  );
}

/** Sends a request as automation or a browser would. */
export async function send(url: string, method: string, options: CallOptions = {}): Promise<Reply> {
  const { body, token = null, headers = {} } = options;
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" || !isJson ? {} : JSON.parse(text),
  };
}

/** The headers of a browser with the session's cookie, on the same site. */
export function cookieOf(reply: Reply, url: string): Record<string, string> {
  const [cookie = ""] = reply.headers.getSetCookie();
  return { cookie: cookie.split(";", 1)[0] ?? "", origin: url, "sec-fetch-site": "same-origin" };
}

/** Creates another workspace as the schema owner, because the service cannot create one. */
export async function addWorkspace(database: TestDatabase, name: string): Promise<number> {
  const [row] = await database.query("insert into control.workspaces (name) values ($1) returning id", [
    name,
  ]);
  return Number(row?.["id"]);
}
