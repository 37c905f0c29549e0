import type { FastifyRequest } from "fastify";
import type { ApiKey, KeyScope } from "../store/control/api-keys.ts";
import { type ApiKeyCache, TooManyUnknownKeys } from "./api-key-cache.ts";
import { Problem } from "./problem.ts";

const BEARER = /^Bearer +(\S+)$/i;

/** Spec 5: `Authorization: Bearer <API_KEY>`. The answer does not reveal why a key is not valid. */
export function authenticate(request: FastifyRequest, keys: ApiKeyCache): ApiKey | Promise<ApiKey> {
  const secret = BEARER.exec(request.headers.authorization ?? "")?.[1];
  if (secret === undefined) {
    throw new Problem("api_key_missing", { detail: "Send the header `Authorization: Bearer <API key>`." });
  }
  const found = keys.find(secret, performance.now());
  if (found instanceof Promise) return found.then(orNotValid, unreachable);
  return orNotValid(found);
}

export function requireScope(key: ApiKey, scope: KeyScope): void {
  if (key.scopes.has(scope)) return;
  throw new Problem("scope_missing", { detail: `This API key lacks the scope \`${scope}\`.` });
}

function orNotValid(key: ApiKey | null): ApiKey {
  if (key === null) throw notValid();
  return key;
}

function notValid(): Problem {
  return new Problem("api_key_invalid", {
    detail:
      "The API key is unknown, revoked or expired. Check that you copied all of it, including its prefix.",
  });
}

function unreachable(error: unknown): never {
  if (error instanceof TooManyUnknownKeys) {
    throw new Problem("overloaded", {
      detail: "Too many unknown API keys are being looked up. Nothing was executed; try again.",
      retryAfterSeconds: 1,
    });
  }
  throw new Problem("unavailable", {
    detail: "The API key could not be looked up. Nothing was executed; try again.",
    retryAfterSeconds: 1,
  });
}
