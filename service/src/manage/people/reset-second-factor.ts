import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import { mayActAs } from "../../primitives/role.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findMember } from "../../store/control/members.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { deleteSessionsOf } from "../../store/control/sessions.ts";
import { type Operation, operation } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type Author, authorOf, openMembership, type Refusal, toProblem } from "./membership.ts";
import { removeSecondFactor } from "./second-factor.ts";

/** For a member who lost all passkeys and recovery codes. */
export function secondFactorResetOperation({ control }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: "/manage/v1/members/:id/second-factor/reset",
    access: { role: "admin", in: "workspace", managesAccess: true },
    id: "resetMemberSecondFactor",
    noun: "Members",
    summary: "Reset a member's second factor",
    description:
      "Deletes the member's passkeys and recovery codes, and ends their sessions. Until they add a passkey, they log in with " +
      "only their password. If their role requires a second factor, they must register a passkey at their next login. Not possible for " +
      "yourself, or for a member with a role above your own.",
    params: Type.Object({ id: Type.String({ examples: ["3"] }) }),
    answer: Type.Object({
      passkeysDeleted: Type.Integer({ examples: [1] }),
      sessionsEnded: Type.Integer({ examples: [2] }),
    }),
    codes: ["not_found"],
    handle: async (call) => {
      const id = readRowId(call.params.id);
      if (id === null) throw toProblem("not_found");
      const outcome = await resetSecondFactor(control, authorOf(call), id);
      if (outcome.kind === "own") {
        throw new Problem("role_missing", {
          detail:
            "You cannot reset your own second factor. Delete your passkeys in your profile, or ask another admin.",
        });
      }
      if (outcome.kind !== "done") throw toProblem(outcome.kind);
      const { passkeysDeleted, sessionsEnded } = outcome;
      return { passkeysDeleted, sessionsEnded };
    },
  });
}

type ResetOutcome =
  | { kind: "done"; passkeysDeleted: number; sessionsEnded: number }
  | { kind: "own" | Refusal };

/** Safe to repeat. */
function resetSecondFactor(control: Pool, author: Author, id: number): Promise<ResetOutcome> {
  return transaction<ResetOutcome>(
    control,
    async (tx) => {
      const opened = await openMembership(tx, author);
      if (opened.kind !== "open") return opened;
      const { principal, actor } = author;
      const { workspaceId } = principal;
      const member = await findMember(tx, { workspaceId, id });
      if (member === null) return { kind: "not_found" };
      if (!mayActAs(opened.authority.role, member.role)) return { kind: "above_own_role" };
      // Otherwise, anyone at a member's unattended browser could remove that member's second factor.
      if (opened.authority.rootMemberId === id) return { kind: "own" };
      const passkeysDeleted = await removeSecondFactor(tx, id);
      const sessionsEnded = await deleteSessionsOf(tx, id);
      await insertControlAudit(tx, {
        workspaceId,
        actor,
        action: "member.second_factor_reset",
        subject: member.email,
        before: null,
        after: { passkeysDeleted, sessionsEnded },
      });
      return { kind: "done", passkeysDeleted, sessionsEnded };
    },
    ({ kind }) => kind === "done",
  );
}
