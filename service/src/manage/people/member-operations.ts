import { type Static, Type } from "typebox";
import { single } from "../../postgres/transaction.ts";
import { listMembers, type Member as StoredMember } from "../../store/control/members.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { actorOf, type Call, type Operation, operation, principalOf } from "../operation.ts";
import { pageOf, pageQuery, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { pageById, readIdCursor } from "../workspace/page-by-id.ts";
import { changeMember, expelMember, inviteMember, renewLink } from "./change-members.ts";
import { readEmail } from "./email.ts";
import type { MadeLink } from "./member-links.ts";
import { type Author, toProblem } from "./membership.ts";
import { emailField, Link, Member, personNameField, roleField } from "./schema.ts";

const NOUN = "Members";
const PATH = "/manage/v1/members";
const memberParams = Type.Object({ id: Type.String({ examples: ["3"] }) });
const MemberWithLink = Type.Object({ member: Member, link: Link });

/** The people who run Purser. */
export function memberOperations({ control }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: PATH,
      access: { role: "viewer", in: "workspace" },
      id: "listMembers",
      noun: NOUN,
      summary: "List members",
      description: "The oldest first, also those who were only invited yet.",
      query: Type.Object(pageQuery, { additionalProperties: false }),
      answer: pageOf(Member),
      codes: [],
      handle: async (call) => {
        const { workspaceId } = principalOf(call);
        const limit = readLimit(call.query.limit);
        const page = { workspaceId, after: readIdCursor(call.query.cursor) ?? 0, limit: limit + 1 };
        return pageById(await single(control, (tx) => listMembers(tx, page)), limit, describeMember);
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: { role: "admin", in: "workspace" },
      id: "inviteMember",
      noun: NOUN,
      summary: "Invite a member",
      description:
        "Answers with a link that is good once, for a week. Hand it over yourself: Purser sends no mail. Nobody gives a role above " +
        "their own, so only an owner makes an owner.",
      body: Type.Object(
        { email: emailField, name: personNameField, role: roleField },
        { additionalProperties: false },
      ),
      answer: MemberWithLink,
      codes: ["already_exists"],
      handle: async (call) => {
        const { email, name, role } = call.body;
        const outcome = await inviteMember(control, authorOf(call), { email: readEmail(email), name, role });
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeWithLink(outcome);
      },
    }),
    operation({
      method: "PATCH",
      path: `${PATH}/:id`,
      access: { role: "admin", in: "workspace" },
      id: "changeMember",
      noun: NOUN,
      summary: "Change a member's name or role",
      description: "A role counts from the member's next call on. The last owner stays one.",
      params: memberParams,
      body: Type.Object(
        { name: Type.Optional(personNameField), role: Type.Optional(roleField) },
        { additionalProperties: false },
      ),
      answer: Member,
      codes: ["not_found", "last_owner"],
      handle: async (call) => {
        const outcome = await changeMember(control, authorOf(call), { id: memberIdOf(call), ...call.body });
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeMember(outcome.member);
      },
    }),
    operation({
      method: "DELETE",
      path: `${PATH}/:id`,
      access: { role: "admin", in: "workspace" },
      id: "removeMember",
      noun: NOUN,
      summary: "Remove a member",
      description:
        "Their sessions and links end at once. Tokens and keys they made belong to the workspace and stay: revoke those whose secrets " +
        "they know. The last owner cannot be removed.",
      params: memberParams,
      answer: Type.Object({ removed: Type.Boolean() }),
      codes: ["not_found", "last_owner"],
      handle: async (call) => {
        const outcome = await expelMember(control, authorOf(call), memberIdOf(call));
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return { removed: true };
      },
    }),
    operation({
      method: "POST",
      path: `${PATH}/:id/link`,
      access: { role: "admin", in: "workspace" },
      id: "renewMemberLink",
      noun: NOUN,
      summary: "Make a new link for a member",
      description:
        "A new invitation for who has not accepted theirs, good for a week; a link to a new password for everyone else, good for a day. " +
        "The links before it end.",
      params: memberParams,
      answer: MemberWithLink,
      codes: ["not_found"],
      handle: async (call) => {
        const outcome = await renewLink(control, authorOf(call), memberIdOf(call));
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeWithLink(outcome);
      },
    }),
  ];
}

export function authorOf(call: Call): Author {
  return { principal: principalOf(call), actor: actorOf(call) };
}

function memberIdOf({ params }: Call<{ id: string }>): number {
  const id = readRowId(params.id);
  if (id === null) throw toProblem("not_found");
  return id;
}

function describeMember(member: StoredMember): Static<typeof Member> {
  const { id, email, name, role, passwordHash, createdAt } = member;
  const status = passwordHash === null ? "invited" : "active";
  return { id: String(id), email, name, role, status, createdAt: formatTimestamp(createdAt) };
}

function describeWithLink({ member, link }: { member: StoredMember; link: MadeLink }) {
  const { path, expiresAt } = link;
  return { member: describeMember(member), link: { path, expiresAt: formatTimestamp(expiresAt) } };
}
