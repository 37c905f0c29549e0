import { type Static, Type } from "typebox";
import type { Access } from "../../edge/admit-managers.ts";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { mayActAs, type Roles } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { listOpenLinks, type OpenLink as StoredLink } from "../../store/control/links.ts";
import { findMember, listMembers, type Member as StoredMember } from "../../store/control/members.ts";
import { readRowId } from "../../store/control/row-id.ts";
import type { ListedSession } from "../../store/control/sessions.ts";
import { invalidField, strictObject } from "../fields.ts";
import { describeApiKey } from "../keys/describe-api-key.ts";
import { type Call, type Operation, operation, principalOf } from "../operation.ts";
import { pageById, pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import { MAIN_CELL, type ManageParts } from "../parts.ts";
import { refuseEarlyProjectRoles } from "../refuse-unfinished-upgrade.ts";
import { refusePassword } from "../single-sign-on/refuse-password.ts";
import type { SignOnSettings } from "../single-sign-on/settings.ts";
import { changeMember, expelMember, inviteMember, renewLink } from "./change-members.ts";
import { describeMember, readProjectRoles } from "./describe-member.ts";
import { readEmail } from "./email.ts";
import { describeToken } from "./management-tokens.ts";
import { listAccess, type MadeLink, type MemberAccess as StoredAccess } from "./member-access.ts";
import { authorOf, toProblem } from "./membership.ts";
import {
  emailField,
  Link,
  ListedMember,
  Member,
  MemberAccess,
  personNameField,
  revokeApiKeysField,
  wantedProjectRolesField,
  wantedRoleField,
} from "./schema.ts";

const NOUN = "Members";
const ACCESS: Access = { role: "admin", in: "workspace", managesAccess: true };
const PATH = "/manage/v1/members";
const memberParams = Type.Object({ id: Type.String({ examples: ["3"] }) });
const MemberWithLink = Type.Object({ member: Member, link: Link });

export function memberOperations({ control, cellNamed, sessions, signOn }: ManageParts): Operation[] {
  const settings = signOn?.settings ?? null;
  const refuseEarly = ({ role, projectRoles = [] }: Partial<Roles>) =>
    role === null || projectRoles.length > 0
      ? single(cellNamed(MAIN_CELL), refuseEarlyProjectRoles)
      : Promise.resolve();
  return [
    operation({
      method: "GET",
      path: PATH,
      access: { role: "viewer", in: "workspace" },
      id: "listMembers",
      noun: NOUN,
      summary: "List members",
      description: "Lists members and invited members, oldest first.",
      query: strictObject(pageQuery),
      answer: pageOf(ListedMember),
      handle: async (call) => {
        const { workspaceId, role } = principalOf(call);
        const limit = readLimit(call.query.limit);
        const page = { workspaceId, after: readIdCursor(call.query.cursor) ?? 0, limit: limit + 1 };
        const { members, links } = await single(control, async (tx) => {
          const members = await listMembers(tx, page);
          const memberIds = members.map(({ id }) => id);
          return { members, links: await listOpenLinks(tx, { createdBy: null, memberIds, limit: null }) };
        });
        const linkOf = new Map(links.map((link) => [link.member.id, describeOpenLink(link)]));
        return pageById(members, limit, (member) => ({
          ...describeMember(member, settings),
          // Members without a second factor are easier to attack, so only those who can help see them.
          ...(mayActAs(role, "admin") ? {} : { hasPasskey: null }),
          openLink: linkOf.get(member.id) ?? null,
        }));
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: ACCESS,
      id: "inviteMember",
      noun: NOUN,
      summary: "Invite a member",
      description:
        "Returns a one-time link that is valid for a week, or until you are demoted or removed. Send the link to the member yourself, " +
        "because Purser does not send email. You cannot assign a role above your own.\n\n" +
        "For a member of specific projects, send `role: null` and `projectRoles`. The member does not see other projects, members, tokens " +
        "or the workspace's audit log.",
      body: strictObject({
        email: emailField,
        name: personNameField,
        role: wantedRoleField,
        projectRoles: Type.Optional(wantedProjectRolesField),
      }),
      answer: MemberWithLink,
      codes: ["already_exists", "not_found", "upgrade_unfinished"],
      handle: async (call) => {
        const { email, name, role } = call.body;
        const projectRoles = readProjectRoles(call.body.projectRoles ?? []);
        await refuseEarly({ role, projectRoles });
        const input = { email: readEmail(email), name, role, projectRoles };
        const outcome = await inviteMember(control, authorOf(call), input);
        if (outcome.kind === "no_role") throw roleMissing();
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeWithLink(outcome, settings);
      },
    }),
    operation({
      method: "PATCH",
      path: `${PATH}/:id`,
      access: ACCESS,
      id: "changeMember",
      noun: NOUN,
      summary: "Edit a member's name or roles",
      description:
        "New roles apply from the member's next call. The last owner cannot be demoted.\n\n" +
        "Lowering or removing a role in any project ends the member's sessions, links and management tokens, and all tokens and links " +
        "created with them. `GET /manage/v1/members/{id}/access` lists what would end. API keys keep working, unless you list them in " +
        "`revokeApiKeys`.",
      params: memberParams,
      body: strictObject({
        name: Type.Optional(personNameField),
        role: Type.Optional(wantedRoleField),
        projectRoles: Type.Optional(wantedProjectRolesField),
        revokeApiKeys: Type.Optional(revokeApiKeysField),
      }),
      answer: Member,
      codes: ["not_found", "last_owner", "upgrade_unfinished"],
      handle: async (call) => {
        const { revokeApiKeys = [], projectRoles: wanted, ...change } = call.body;
        const roles = wanted === undefined ? {} : { projectRoles: readProjectRoles(wanted) };
        await refuseEarly({ ...change, ...roles });
        const revoked = revokeApiKeys.map(readKeyId);
        const input = { id: memberIdOf(call), ...change, ...roles, revokeApiKeys: revoked };
        const outcome = await changeMember(control, settings, authorOf(call), input);
        if (outcome.kind === "not_demoted") {
          const message = "requires `role` or `projectRoles`: lower roles, or the member's current ones";
          throw invalidField({ field: "revokeApiKeys", code: "unknown_field", message });
        }
        if (outcome.kind === "no_role") throw roleMissing();
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeMember(outcome.member, settings);
      },
    }),
    operation({
      method: "DELETE",
      path: `${PATH}/:id`,
      access: ACCESS,
      id: "removeMember",
      noun: NOUN,
      summary: "Remove a member",
      description:
        "Ends the member's sessions, links and management tokens, and all tokens and links created with them. " +
        "`GET /manage/v1/members/{id}/access` lists what would end. API keys keep working, because a backend may depend on them, unless " +
        "you list them in `revokeApiKeys`. The last owner cannot be removed.",
      params: memberParams,
      query: strictObject({
        revokeApiKeys: Type.Optional(
          Type.String({
            pattern: "^[1-9][0-9]{0,8}(,[1-9][0-9]{0,8}){0,99}$",
            description: "IDs of API keys that the member created, separated by commas.",
            examples: ["7,9"],
          }),
        ),
      }),
      answer: Type.Object({ removed: Type.Boolean() }),
      codes: ["not_found", "last_owner"],
      handle: async (call) => {
        const revokeApiKeys = [...new Set(call.query.revokeApiKeys?.split(","))].map(Number);
        const outcome = await expelMember(control, settings, authorOf(call), {
          id: memberIdOf(call),
          revokeApiKeys,
        });
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return { removed: true };
      },
    }),
    accessOperation({ control, sessions }),
    operation({
      method: "POST",
      path: `${PATH}/:id/link`,
      access: ACCESS,
      id: "renewMemberLink",
      noun: NOUN,
      summary: "Create a new link for a member",
      description:
        "If the member has not joined yet, returns a new invitation that is valid for a week. Otherwise returns a password reset link " +
        "that is valid for a day. Earlier links for the member stop working. The new link also ends when you are demoted or removed, or " +
        "when the token that created the link ends. You cannot create a link for yourself.",
      params: memberParams,
      answer: MemberWithLink,
      codes: ["not_found", "sso_required"],
      handle: async (call) => {
        const outcome = await renewLink(control, settings, authorOf(call), memberIdOf(call), (member) =>
          refusePassword(signOn, member),
        );
        if (outcome.kind === "own") {
          const detail =
            "You cannot create a link for yourself. Change your password in your profile, or ask another admin.";
          throw new Problem("role_missing", { detail });
        }
        if (outcome.kind !== "done") throw toProblem(outcome.kind);
        return describeWithLink(outcome, settings);
      },
    }),
  ];
}

function accessOperation({ control, sessions }: Pick<ManageParts, "control" | "sessions">): Operation {
  return operation({
    method: "GET",
    path: `${PATH}/:id/access`,
    access: ACCESS,
    id: "readMemberAccess",
    noun: NOUN,
    summary: "List a member's access",
    description:
      "Lists the sessions, links and management tokens that end when the member is demoted or removed. Also lists API keys created by " +
      "the member or with the member's tokens. API keys keep working, unless you list them in `revokeApiKeys`. At most 1,000 items of " +
      "each kind, most recently used first.",
    params: memberParams,
    answer: MemberAccess,
    codes: ["not_found"],
    handle: async (call) => {
      const { workspaceId, sessionHash } = principalOf(call);
      const id = memberIdOf(call);
      const access = await single(control, async (tx) =>
        (await findMember(tx, { workspaceId, id })) === null ? null : listAccess(tx, { workspaceId, id }),
      );
      if (access === null) throw toProblem("not_found");
      return describeAccess(access, await sessions.list(id, sessionHash ?? Buffer.alloc(0)));
    },
  });
}

function roleMissing(): Problem {
  const message = "is required if `role` is null";
  return invalidField({ field: "projectRoles", code: "required", message });
}

function readKeyId(text: string): number {
  const id = readRowId(text);
  if (id === null) throw toProblem("not_found");
  return id;
}

function memberIdOf({ params }: Call<{ id: string }>): number {
  const id = readRowId(params.id);
  if (id === null) throw toProblem("not_found");
  return id;
}

function describeOpenLink({ purpose, createdAt, expiresAt, createdBy }: StoredLink) {
  return {
    purpose,
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
    createdBy,
  };
}

function describeAccess(
  { tokens, links, apiKeys }: StoredAccess,
  sessions: readonly ListedSession[],
): Static<typeof MemberAccess> {
  return {
    sessions: sessions.map(({ createdAt, lastUsedAt, expiresAt }) => ({
      createdAt: formatTimestamp(createdAt),
      lastUsedAt: formatTimestamp(lastUsedAt),
      expiresAt: formatTimestamp(expiresAt),
    })),
    tokens: tokens.map(describeToken),
    links: links.map((link) => {
      const { id, name, email } = link.member;
      return { ...describeOpenLink(link), member: { id: String(id), name, email } };
    }),
    apiKeys: apiKeys.map((key) => ({
      ...describeApiKey(key),
      projectId: String(key.projectId),
      environment: key.environmentKind,
    })),
  };
}

function describeWithLink(
  { member, link }: { member: StoredMember; link: MadeLink },
  settings: SignOnSettings | null,
) {
  const { path, expiresAt } = link;
  return { member: describeMember(member, settings), link: { path, expiresAt: formatTimestamp(expiresAt) } };
}
