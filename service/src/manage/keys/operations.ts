import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { listApiKeys } from "../../store/control/api-key-list.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { nameField, nullable, overlapSecondsField, readTime, strictObject, timeField } from "../fields.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import { pageById, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { authorOf, toProblem } from "../people/membership.ts";
import { issueApiKey } from "./create-api-key.ts";
import { ApiKey, describeApiKey, scopesField, secretField } from "./describe-api-key.ts";
import { endApiKey, rotateApiKey } from "./end-api-key.ts";

const NOUN = "API keys";
const PATH = `${ENVIRONMENT_PATH}/api-keys`;

const keyParams = Type.Object({ ...environmentParams, id: Type.String({ examples: ["7"] }) });

const expiresAtField = Type.Optional(nullable(timeField));

export function apiKeyOperations({ control }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: PATH,
      access: { role: "viewer", in: "environment" },
      id: "listApiKeys",
      noun: NOUN,
      summary: "List API keys",
      description: "Newest first, including revoked and expired keys. Secrets are not stored.",
      params: Type.Object(environmentParams),
      query: strictObject(pageQuery),
      answer: pageOf(ApiKey),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const limit = readLimit(call.query.limit);
        const page = { environmentId, before: readIdCursor(call.query.cursor), limit: limit + 1 };
        return pageById(await single(control, (tx) => listApiKeys(tx, page)), limit, describeApiKey);
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: { role: "admin", in: "environment" },
      id: "createApiKey",
      noun: NOUN,
      summary: "Create an API key",
      description:
        "The key works immediately. The secret is shown only in this response. Keep the secret on your server.",
      params: Type.Object(environmentParams),
      body: strictObject({
        name: Type.String({ ...nameField, examples: ["Backend"] }),
        scopes: scopesField,
        expiresAt: expiresAtField,
      }),
      answer: Type.Object({ apiKey: ApiKey, secret: secretField }),
      codes: ["ends_in_the_past"],
      handle: async (call) => {
        const { projectId, environmentId, environment } = scopeOf(call);
        const { name, scopes } = call.body;
        const expiresAt = readTime("expiresAt", call.body.expiresAt) ?? null;
        const input = { projectId, environmentId, kind: environment, name, scopes, expiresAt };
        const outcome = await issueApiKey(control, authorOf(call), input);
        if (outcome.kind === "ends_in_the_past") throw endsInThePast();
        if (outcome.kind !== "issued") throw toProblem(outcome.kind);
        return { apiKey: describeApiKey(outcome.key), secret: outcome.key.secret };
      },
    }),
    rotateOperation({ control }),
    operation({
      method: "POST",
      path: `${PATH}/:id/revoke`,
      access: { role: "admin", in: "environment" },
      id: "revokeApiKey",
      noun: NOUN,
      summary: "Revoke an API key",
      description: "Revoking is permanent. All processes reject the key within 5 seconds. Safe to repeat.",
      params: keyParams,
      answer: ApiKey,
      handle: async (call) => {
        const id = readRowId(call.params.id);
        if (id === null) throw keyNotFound();
        const where = { author: authorOf(call), scope: scopeOf(call) };
        const outcome = await endApiKey(control, where, id);
        if (outcome.kind === "not_found") throw keyNotFound();
        if (outcome.kind !== "revoked") throw toProblem(outcome.kind);
        return describeApiKey(outcome.key);
      },
    }),
  ];
}

function rotateOperation({ control }: Pick<ManageParts, "control">): Operation {
  return operation({
    method: "POST",
    path: `${PATH}/:id/rotate`,
    access: { role: "admin", in: "environment" },
    id: "rotateApiKey",
    noun: NOUN,
    summary: "Rotate an API key",
    description:
      "Creates a key with the same name and scopes. The old key expires after `overlapSeconds`, unless it expires earlier. All processes " +
      "reject the old key within 5 seconds after it expires. Idempotency keys belong to the project, so you can retry requests with the " +
      "new key.",
    params: keyParams,
    body: strictObject({
      overlapSeconds: overlapSecondsField("How long the old key keeps working, at most a week."),
      expiresAt: expiresAtField,
    }),
    answer: Type.Object({ apiKey: ApiKey, secret: secretField, replaced: ApiKey }),
    codes: ["ends_in_the_past"],
    handle: async (call) => {
      const id = readRowId(call.params.id);
      if (id === null) throw keyNotFound();
      const { overlapSeconds } = call.body;
      const expiresAt = readTime("expiresAt", call.body.expiresAt) ?? null;
      const where = { author: authorOf(call), scope: scopeOf(call) };
      const outcome = await rotateApiKey(control, where, { id, overlapSeconds, expiresAt });
      if (outcome.kind === "not_found") throw keyNotFound();
      if (outcome.kind === "ends_in_the_past") throw endsInThePast();
      if (outcome.kind !== "rotated") throw toProblem(outcome.kind);
      const { key, replaced } = outcome;
      return { apiKey: describeApiKey(key), secret: key.secret, replaced: describeApiKey(replaced) };
    },
  });
}

/** The same error for missing keys and for keys in another environment. On rotation, also for revoked or expired keys. */
function keyNotFound(): Problem {
  return new Problem("not_found", {
    detail: "There is no such API key in this environment, or it is revoked or expired.",
  });
}

function endsInThePast(): Problem {
  return new Problem("ends_in_the_past", { detail: "`expiresAt` must be in the future." });
}
