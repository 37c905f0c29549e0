import { addAbortSignal } from "node:stream";
import { type Static, Type } from "typebox";
import { endStalled, STALLED } from "../../edge/end-early.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { mayActAs, type Role, roleIn } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { firstUuidOf } from "../../primitives/uuid.ts";
import { Turns, WAITING_FOR_CALLERS } from "../bulk/turns.ts";
import {
  actorField,
  invalidField,
  nullable,
  readTime,
  shownCustomerName,
  strictObject,
  timeField,
} from "../fields.ts";
import {
  actorOf,
  admitAgain,
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  fileOperation,
  type Operation,
  operation,
  principalOf,
  scopeOf,
} from "../operation.ts";
import { decodeCursor, encodeCursor, pageOf, pageQuery, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { findEnvironment } from "../workspace/find-environment.ts";
import { exportAudit } from "./export-audit.ts";
import { type AuditEntry, type AuditSearch, listAudit } from "./list-audit.ts";

const NOUN = "Audit";

export const Entry = Type.Object({
  id: Type.String({ examples: ["01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00"] }),
  recordedAt: timeField,
  actor: actorField,
  action: Type.String({ examples: ["api_key.rotated"] }),
  subject: Type.String({ description: "The object that was changed.", examples: ["Production backend"] }),
  projectId: nullable(Type.String({ examples: ["1"] })),
  environment: nullable(Type.Enum(["test", "live"])),
  customerId: nullable(
    Type.String({
      description: "Your customer ID. Null if the customer was erased.",
      examples: ["customer_42"],
    }),
  ),
  customerName: shownCustomerName,
  requestId: nullable(
    Type.String({ description: "`X-Request-Id` of the call.", examples: ["req_01m7e9sv…"] }),
  ),
  before: nullable(Type.Record(Type.String(), Type.Unknown())),
  after: nullable(Type.Record(Type.String(), Type.Unknown())),
});

const filterQuery = {
  actor: Type.Optional(
    Type.String({
      pattern: "^((member|token|api_key):[1-9][0-9]{0,8}|command|system)$",
      description: "`member:`, `token:` or `api_key:` followed by an ID, or `command` or `system`.",
      examples: ["member:3"],
    }),
  ),
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      description: "Only actions that start with this text.",
      examples: ["api_key."],
    }),
  ),
  customerId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only entries about this customer.",
      examples: ["customer_42"],
    }),
  ),
  collapseBulk: Type.Optional(
    Type.Enum(["true", "false"], {
      description:
        "`true` hides the per-customer entries of bulk changes and imports. Their `after.inBulk` is the ID of the change's " +
        "`bulk_change.started` entry. Entries recorded before version 0.2 do not have this ID. Once the entry for the " +
        "whole change is recorded, `true` also hides the `bulk_change.started` entry. An interrupted change stays visible.",
      examples: ["true"],
    }),
  ),
  from: Type.Optional(timeField),
  to: Type.Optional(timeField),
};

const scopeQuery = {
  projectId: Type.Optional(Type.String({ examples: ["1"] })),
  environment: Type.Optional(Type.Enum(["test", "live"])),
};

const DESCRIPTION =
  "Returns audit entries, newest first, with the state before and after each change. `from` is inclusive, `to` is exclusive. If " +
  "you filter by actor or action, a page can contain fewer than `limit` items, or none. Continue until `nextCursor` is null. " +
  "Only admins and owners see the IP address and browser of a login, and entries about passkeys and recovery codes.";

export function auditOperations(parts: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/manage/v1/audit",
      access: { role: "viewer", in: "workspace" },
      id: "listAudit",
      noun: NOUN,
      summary: "List the workspace's audit log",
      description: `${DESCRIPTION} To select one environment, send both \`projectId\` and \`environment\`.`,
      query: strictObject({
        ...pageQuery,
        ...filterQuery,
        ...scopeQuery,
      }),
      answer: pageOf(Entry),
      codes: ["not_found"],
      handle: async (call) => {
        const { workspaceId, role } = principalOf(call);
        const scope = await findEnvironment(parts.control, workspaceId, call.query);
        return list(parts, { workspaceId, scope }, call, role);
      },
    }),
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/audit`,
      access: { role: "viewer", in: "environment" },
      id: "listEnvironmentAudit",
      noun: NOUN,
      summary: "List an environment's audit log",
      description: `${DESCRIPTION} Includes changes to the environment's API keys and management tokens.`,
      params: Type.Object(environmentParams),
      query: strictObject({ ...pageQuery, ...filterQuery }),
      answer: pageOf(Entry),
      handle: async (call) => {
        const principal = principalOf(call);
        const scope = scopeOf(call);
        const where = { workspaceId: principal.workspaceId, scope };
        return list(parts, where, call, roleIn(principal, scope));
      },
    }),
    exportOperation(parts),
  ];
}

function exportOperation(parts: ManageParts): Operation {
  const turns = new Turns(WAITING_FOR_CALLERS);
  return fileOperation({
    method: "GET",
    path: "/manage/v1/audit/export",
    access: { role: "admin", in: "workspace" },
    id: "exportAudit",
    noun: NOUN,
    summary: "Export the audit log",
    description:
      "Streams audit entries as NDJSON, newest first. Each line is an entry in the format of the list, plus a `cursor`.\n\n" +
      "- To select one environment, send both `projectId` and `environment`.\n" +
      "- To resume after an interruption, remove an incomplete last line and send the same call with the last `cursor`.\n" +
      "- Every export is recorded in the audit log.\n" +
      "- Each process runs at most two exports per workspace, and six in total.\n" +
      "- An entry can become visible a few seconds after its `recordedAt`. To keep an archive, set `from` to one minute before " +
      "the `to` of the previous export, and skip the IDs you already have.",
    params: Type.Object({}),
    query: strictObject({ cursor: pageQuery.cursor, ...filterQuery, ...scopeQuery }),
    files: {
      "application/x-ndjson": Type.String({ description: "One object per line.", examples: ["{}\n"] }),
    },
    codes: ["not_found", "overloaded"],
    handle: async (call) => {
      const { reply, query } = call;
      const { workspaceId } = principalOf(call);
      const scope = await findEnvironment(parts.control, workspaceId, query);
      const search = readSearch({ workspaceId, scope }, query);
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      if (reply.raw.destroyed) gone.abort();
      const ended = AbortSignal.any([gone.signal, parts.stopping]);
      const describe = (entry: AuditEntry) => ({
        ...describeEntry(entry),
        cursor: encodeCursor([entry.id]),
      });
      const end = turns.begin(principalOf(call).workspaceId);
      try {
        const reader = { actor: actorOf(call), ended, admitAgain: () => admitAgain(call) };
        const content = await exportAudit(parts, search, reader, describe);
        addAbortSignal(parts.stopping, content).once("close", end);
        endStalled(reply.raw, STALLED);
        reply.headers({
          "content-type": "application/x-ndjson; charset=utf-8",
          "content-disposition": 'attachment; filename="audit.ndjson"',
        });
        return content;
      } catch (error) {
        end();
        throw error;
      }
    },
  });
}

type Query = Partial<Record<"limit" | "cursor" | keyof typeof filterQuery, string>>;

async function list(
  parts: ManageParts,
  where: Pick<AuditSearch, "workspaceId" | "scope">,
  { query }: Call<unknown, Query>,
  role: Role | null,
) {
  const isAdmin = mayActAs(role, "admin");
  const search = readSearch(where, query);
  const filter = { ...search.filter, hidden: isAdmin ? [] : ABOUT_SECOND_FACTORS };
  const { entries, next } = await listAudit(parts, { ...search, filter, limit: readLimit(query.limit) });
  const describe = isAdmin ? describeEntry : (entry: AuditEntry) => withoutLogIns(describeEntry(entry));
  return toPage(entries.map(describe), next);
}

function readSearch(
  where: Pick<AuditSearch, "workspaceId" | "scope">,
  query: Omit<Query, "limit">,
): Omit<AuditSearch, "limit"> {
  const { action, customerId, cursor } = query;
  const from = readTime("from", query.from);
  const to = readTime("to", query.to);
  return {
    ...where,
    customerId: customerId === undefined ? null : brandAs<CustomerId>(customerId),
    filter: {
      actor: readActor(query.actor),
      actionPrefix: action ?? null,
      collapsesBulk: query.collapseBulk === "true",
      hidden: [],
    },
    from: from === undefined ? null : firstUuidOf(from),
    before: earlier(readIdCursor(cursor), to === undefined ? null : firstUuidOf(to)),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function readIdCursor(cursor: string | undefined): string | null {
  const [id = null] = decodeCursor(cursor, ["string"]) ?? [];
  if (id === null || UUID.test(id)) return id;
  const message = "is not a cursor from this list";
  throw invalidField({ field: "cursor", code: "wrong_form", message });
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function readActor(text: string | undefined): AuditSearch["filter"]["actor"] {
  const [kind, id = null] = text?.split(":") ?? [];
  if (kind === "member" || kind === "token" || kind === "api_key") return { kind, id };
  return kind === "command" || kind === "system" ? { kind, id } : null;
}

function describeEntry(entry: AuditEntry): Static<typeof Entry> {
  const { id, recordedAt, actor, actorName, action, subject, scope, customerId, customerName } = entry;
  return {
    id,
    recordedAt: formatTimestamp(recordedAt),
    actor: { kind: actor.kind, id: actor.id, name: actorName },
    action,
    subject,
    projectId: scope === null ? null : String(scope.projectId),
    environment: scope?.environment ?? null,
    customerId,
    customerName,
    requestId: actor.requestId,
    before: entry.before,
    after: entry.after,
  };
}

/** Actions that show which members have a second factor. Members without one are easier to attack. */
const ABOUT_SECOND_FACTORS = ["member.passkey_", "member.second_factor_", "member.recovery_codes_"];

const ABOUT_LOG_INS: ReadonlySet<string> = new Set([
  "address",
  "addresses",
  "moreAddresses",
  "userAgent",
  "openedWith",
  "passkeysEnded",
]);

/** Removes the IP addresses, browsers and second factors of logins, which only admins and owners can see. */
function withoutLogIns(entry: Static<typeof Entry>): Static<typeof Entry> {
  const strip = (values: Record<string, unknown> | null): Record<string, unknown> | null =>
    values && Object.fromEntries(Object.entries(values).filter(([name]) => !ABOUT_LOG_INS.has(name)));
  return { ...entry, before: strip(entry.before), after: strip(entry.after) };
}
