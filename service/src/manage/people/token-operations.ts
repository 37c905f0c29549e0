import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { listManagementTokens } from "../../store/control/management-tokens.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { nameField, nullable, readTime, timeField } from "../fields.ts";
import { type Operation, operation, principalOf } from "../operation.ts";
import { pageOf, pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { findEnvironment } from "../workspace/find-environment.ts";
import { pageById, readIdCursor } from "../workspace/page-by-id.ts";
import { describeToken } from "./describe-token.ts";
import { endManagementToken, issueManagementToken } from "./management-tokens.ts";
import { authorOf } from "./member-operations.ts";
import { toProblem } from "./membership.ts";
import { roleField, Token } from "./schema.ts";

const NOUN = "Management tokens";
const PATH = "/manage/v1/tokens";

const TokenBody = Type.Object(
  {
    name: nameField,
    role: roleField,
    projectId: Type.Optional(
      nullable(
        Type.String({ description: "With `environment`: the token reaches nothing else.", examples: ["1"] }),
      ),
    ),
    environment: Type.Optional(nullable(Type.Enum(["test", "live"]))),
    expiresAt: Type.Optional(nullable(timeField)),
  },
  { additionalProperties: false },
);

/** The secrets of automation. */
export function tokenOperations({ control }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: PATH,
      access: { role: "viewer", in: "workspace" },
      id: "listTokens",
      noun: NOUN,
      summary: "List management tokens",
      description: "The newest first, also those that have ended. The secrets are not among what is kept.",
      query: Type.Object(pageQuery, { additionalProperties: false }),
      answer: pageOf(Token),
      codes: [],
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
      access: { role: "admin", in: "workspace" },
      id: "createToken",
      noun: NOUN,
      summary: "Make a management token",
      description:
        "For one environment, or for all of the workspace; with a role that is not above your own. The secret is in the answer and " +
        "nowhere else.",
      body: TokenBody,
      answer: Type.Object({
        token: Token,
        secret: Type.String({
          description: "Shown this once: Purser keeps only a hash of it.",
          examples: ["pur_mgmt_…"],
        }),
      }),
      codes: ["not_found", "ends_in_the_past"],
      handle: async (call) => {
        const { name, role } = call.body;
        const expiresAt = readTime("expiresAt", call.body.expiresAt) ?? null;
        const place = await findEnvironment(control, principalOf(call).workspaceId, call.body);
        const input = { name, role, environment: place, expiresAt };
        const outcome = await issueManagementToken(control, authorOf(call), input);
        if (outcome.kind === "ends_in_the_past") {
          throw new Problem("ends_in_the_past", { detail: "`expiresAt` lies in the past." });
        }
        if (outcome.kind !== "issued") throw toProblem(outcome.kind);
        return { token: describeToken(outcome.token), secret: outcome.token.secret };
      },
    }),
    operation({
      method: "POST",
      path: `${PATH}/:id/revoke`,
      access: { role: "admin", in: "workspace" },
      id: "revokeToken",
      noun: NOUN,
      summary: "Revoke a management token",
      description: "For ever, and from its next call on. Safe to repeat.",
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
