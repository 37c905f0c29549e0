import { expect } from "vitest";
import { createApiKey } from "../../service/src/manage/keys/create-api-key.ts";
import { transaction } from "../../service/src/postgres/transaction.ts";
import type { Reply, Setup } from "../../service/test/harness.ts";
import { openTestPool } from "../../service/test/seed.ts";

/** A retry must return the original response byte for byte, marked as replayed. */
export async function expectReplay(repeated: Promise<Reply>, original: Reply): Promise<void> {
  const reply = await repeated;
  expect(original.status).toBe(200);
  expect({ status: reply.status, text: reply.text }).toEqual({ status: 200, text: original.text });
  expect(reply.headers.get("content-type")).toBe(original.headers.get("content-type"));
  expect(reply.headers.get("idempotent-replayed")).toBe("true");
}

/** The response to a key that is reused for a different request. */
export function conflictOf(conflict: "payload" | "endpoint" | "environment"): object {
  return { status: 409, body: { code: "idempotency_key_reused", conflict } };
}

/** The secret of another API key for the test environment. */
export async function createAnotherKey(
  { database, project }: Pick<Setup, "database" | "project">,
  scope: "consume" | "events",
): Promise<string> {
  const pool = openTestPool(database.url);
  const { projectId, test: environment } = project;
  try {
    const createdBy = { kind: "system", id: null } as const;
    const where = { projectId, environmentId: environment.environmentId, kind: "test" } as const;
    const request = { ...where, name: "Another", scopes: [scope], createdBy };
    return (await transaction(pool, (tx) => createApiKey(tx, request))).secret;
  } finally {
    await pool.end();
  }
}
