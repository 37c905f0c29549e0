import { Type } from "typebox";
import type { Access } from "../../edge/admit-managers.ts";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { mayActAs } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { listManagementTokens } from "../../store/control/management-tokens.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { invalidField, nameField, nullable, readTime, strictObject, timeField } from "../fields.ts";
import { type Operation, operation, principalOf } from "../operation.ts";
import { pageById, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { findEnvironment } from "../workspace/find-environment.ts";
import { describeToken, endManagementToken, issueManagementToken, TOKENS_MAX } from "./management-tokens.ts";
import { authorOf, toProblem } from "./membership.ts";
import { managesAccessField, roleField, Token } from "./schema.ts";

const NOUN = "Management tokens";
const ACCESS: Access = { role: "admin", in: "workspace", managesAccess: true };
const PATH = "/manage/v1/tokens";

const TokenBody = strictObject({
  name: Type.String({ ...nameField, examples: ["Billing webhooks"] }),
  role: roleField,
  managesAccess: Type.Optional(managesAccessField),
  projectId: Type.Optional(
    nullable(
      Type.String({
        description: "Send `projectId` and `environment` together to limit the token to that environment.",
        examples: ["1"],
      }),
    ),
  ),
  environment: Type.Optional(nullable(Type.Enum(["test", "live"]))),
  expiresAt: Type.Optional(
    nullable({
      ...timeField,
      description: "Default: no expiry, or the expiry of the token that makes this call.",
    }),
  ),
});

export function tokenOperations({ control }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: PATH,
      access: { role: "viewer", in: "workspace" },
      id: "listTokens",
      noun: NOUN,
      summary: "List management tokens",
      description: "Lists tokens newest first, including revoked and expired tokens. Secrets are not stored.",
      query: strictObject(pageQuery),
      answer: pageOf(Token),
      handle: async (call) => {
        const { workspaceId } = principalOf(call);
        const limit = readLimit(call.query.limit);
        const page = { workspaceId, before: readIdCursor(call.query.cursor), limit: limit + 1 };
        return pageById(await single(control, (tx) => listManagementTokens(tx, page)), limit, describeToken);
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: ACCESS,
      id: "createToken",
      noun: NOUN,
      summary: "Create a management token",
      description:
        "The token is valid for one environment or the whole workspace. Its role cannot be above your own. The token ends when you are " +
        "demoted or removed. A token created with another token ends with that token. You can have at most " +
        `${TOKENS_MAX} active tokens, including those created with your tokens. The secret is shown only in this response.`,
      body: TokenBody,
      answer: Type.Object({
        token: Token,
        secret: Type.String({
          description: "The secret is shown only once, because Purser stores only its hash.",
          examples: ["pur_mgmt_…"],
        }),
      }),
      codes: ["not_found", "ends_in_the_past", "too_many_tokens"],
      handle: async (call) => {
        const { name, role, managesAccess = false } = call.body;
        const expiresAt = readTime("expiresAt", call.body.expiresAt) ?? null;
        const scope = await findEnvironment(control, principalOf(call).workspaceId, call.body);
        if (managesAccess && (scope !== null || !mayActAs(role, "admin"))) {
          const message = "needs the `admin` or `owner` role in the whole workspace";
          throw invalidField({ field: "managesAccess", code: "wrong_form", message });
        }
        const input = { name, role, managesAccess, environment: scope, expiresAt };
        const outcome = await issueManagementToken(control, authorOf(call), input);
        if (outcome.kind === "ends_in_the_past") {
          throw new Problem("ends_in_the_past", { detail: "`expiresAt` must be in the future." });
        }
        if (outcome.kind === "too_many_tokens") {
          throw new Problem("too_many_tokens", {
            detail: `You and your tokens already have ${TOKENS_MAX} active tokens. Revoke some first.`,
          });
        }
        if (outcome.kind === "outlives_creator") {
          const message = `must not be after ${formatTimestamp(outcome.endsAtMax)}, when the creating token expires`;
          throw invalidField({ field: "expiresAt", code: "too_large", message });
        }
        if (outcome.kind !== "issued") throw toProblem(outcome.kind);
        return { token: describeToken(outcome.token), secret: outcome.token.secret };
      },
    }),
    operation({
      method: "POST",
      path: `${PATH}/:id/revoke`,
      access: ACCESS,
      id: "revokeToken",
      noun: NOUN,
      summary: "Revoke a management token",
      description:
        "Revoking is permanent and takes effect with the token's next call. Tokens and links created with the token also end. Safe to " +
        "repeat.",
      params: Type.Object({ id: Type.String({ examples: ["5"] }) }),
      answer: Token,
      codes: ["not_found"],
      handle: async (call) => {
        const id = readRowId(call.params.id);
        if (id === null) throw toProblem("not_found");
        const outcome = await endManagementToken(control, authorOf(call), id);
        if (outcome.kind !== "revoked") throw toProblem(outcome.kind);
        return describeToken(outcome.token);
      },
    }),
  ];
}
