import { type Static, Type } from "typebox";
import { addressOf } from "../../edge/guard.ts";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { deleteOtherSessionsOf, deleteOwnSession, type ListedSession } from "../../store/control/sessions.ts";
import { nullable, timeField } from "../fields.ts";
import { actorOf, type Call, type Operation, operation, principalOf } from "../operation.ts";
import { pageOf } from "../page.ts";
import type { ManageParts } from "../parts.ts";

const NOUN = "Session";
const PATH = "/manage/v1/sessions";

export const Session = Type.Object({
  id: Type.String({ examples: ["7"] }),
  createdAt: timeField,
  lastUsedAt: Type.String({
    ...timeField,
    description: "When the session was last used, accurate to a minute.",
  }),
  expiresAt: Type.String({
    ...timeField,
    description: "The session ends at this time, or earlier if it reaches the idle timeout.",
  }),
  address: nullable(
    Type.String({ description: "The IP address that last used the session.", examples: ["203.0.113.7"] }),
  ),
  userAgent: nullable(
    Type.String({ description: "The user agent at login.", examples: ["Mozilla/5.0 (…)"] }),
  ),
  openedWith: Type.Enum(["password", "passkey", "recovery_code", "single_sign_on"], {
    description: "How the member logged in. `password` also stands for a link.",
  }),
  isCurrent: Type.Boolean({ description: "True for the session that makes this call." }),
});

export function ownSessionOperations({ control, sessions }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: PATH,
      access: "signed_in",
      id: "listSessions",
      noun: NOUN,
      summary: "List your sessions",
      description: "Lists at most 50 sessions, most recently used first. A token has no sessions.",
      answer: pageOf(Session),
      handle: async (call) => {
        const { id, sessionHash } = principalOf(call);
        const items = sessionHash === null ? [] : await sessions.list(id, sessionHash);
        return { items: items.map(describeSession), nextCursor: null };
      },
    }),
    operation({
      method: "DELETE",
      path: PATH,
      access: "signed_in",
      id: "endOtherSessions",
      noun: NOUN,
      summary: "End your other sessions",
      description: "Ends all your sessions except the current one.",
      answer: Type.Object({ ended: Type.Integer({ examples: [2] }) }),
      handle: async (call) => {
        const { id: memberId, sessionHash: tokenHash } = principalOf(call);
        if (tokenHash === null) return { ended: 0 };
        return transaction(control, async (tx) => {
          const ended = await deleteOtherSessionsOf(tx, { memberId, tokenHash });
          if (ended > 0)
            await insertControlAudit(tx, auditOf(call, "member.other_sessions_ended", { ended }));
          return { ended };
        });
      },
    }),
    operation({
      method: "DELETE",
      path: `${PATH}/:id`,
      access: "signed_in",
      id: "endSession",
      noun: NOUN,
      summary: "End one of your sessions",
      description: "The next call with the session is rejected.",
      params: Type.Object({ id: Type.String({ examples: ["7"] }) }),
      answer: Type.Object({ ended: Type.Integer({ examples: [1] }) }),
      codes: ["not_found"],
      handle: async (call) => {
        const { kind, id: memberId } = principalOf(call);
        const id = kind === "member" ? readRowId(call.params.id) : null;
        if (id === null || !(await endOne(control, call, { memberId, id }))) {
          throw new Problem("not_found", { detail: "You have no such session." });
        }
        return { ended: 1 };
      },
    }),
  ];
}

function endOne(control: Pool, call: Call, session: { memberId: number; id: number }): Promise<boolean> {
  return transaction(control, async (tx) => {
    if (!(await deleteOwnSession(tx, session))) return false;
    await insertControlAudit(tx, auditOf(call, "member.session_ended", { session: String(session.id) }));
    return true;
  });
}

function auditOf(call: Call, action: string, after: object) {
  const { workspaceId, email } = principalOf(call);
  const address = addressOf(call.request);
  const subject = email ?? "";
  return { workspaceId, actor: actorOf(call), action, subject, before: null, after: { ...after, address } };
}

function describeSession(session: ListedSession): Static<typeof Session> {
  const { id, createdAt, lastUsedAt, expiresAt, address, userAgent, openedWith, isCurrent } = session;
  return {
    id: String(id),
    createdAt: formatTimestamp(createdAt),
    lastUsedAt: formatTimestamp(lastUsedAt),
    expiresAt: formatTimestamp(expiresAt),
    address,
    userAgent,
    openedWith,
    isCurrent,
  };
}
