import { randomBytes } from "node:crypto";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findLiveManagementToken } from "../../store/control/management-tokens.ts";
import {
  findMemberByEmail,
  insertMember,
  lockMembership,
  type Member,
  setPassword,
} from "../../store/control/members.ts";
import { getFirstWorkspace } from "../../store/control/projects.ts";
import { createManagementToken } from "./management-tokens.ts";
import { makeLinkFor } from "./member-access.ts";
import { hashPassword } from "./password.ts";

/** Credentials for development. The database stores only their hashes. */
export type DevelopmentAccess = {
  readonly owner: { readonly email: string; readonly password: string };
  readonly managementToken: string;
};

const ACTOR = { kind: "command", id: "purser dev", requestId: null } as const satisfies Actor;
const EMAIL = "owner@localhost";

/** Creates a one-time login link. Reuses the owner and token from the previous start, or creates them. */
export async function openDevelopment(
  control: Pool,
  last: DevelopmentAccess | null,
): Promise<{ access: DevelopmentAccess; signInPath: string }> {
  const owner = last?.owner ?? { email: EMAIL, password: randomBytes(12).toString("base64url") };
  const passwordHash = await hashPassword(owner.password);
  const member = await transaction(control, async (tx) => {
    const workspaceId = await getFirstWorkspace(tx);
    await lockMembership(tx);
    const found = await findMemberByEmail(tx, owner.email);
    if (found === null) return insertOwner(tx, { workspaceId, email: owner.email, passwordHash });
    // Without saved credentials, the password is unknown and is replaced. With saved credentials, the password is kept, because the
    // owner may have changed it.
    if (last === null) await replacePassword(tx, found, passwordHash);
    return found;
  });
  const { workspaceId, id } = member;
  const managementToken = await keepToken(control, workspaceId, last?.managementToken ?? null);
  const { path } = await transaction(control, async (tx) => {
    await audit(tx, member, "member.sign_in_link_made");
    return makeLinkFor(tx, { memberId: id, purpose: "sign_in", createdBy: ACTOR });
  });
  return { access: { owner, managementToken }, signInPath: path };
}

async function keepToken(control: Pool, workspaceId: number, last: string | null): Promise<string> {
  const token =
    last === null ? null : await single(control, (tx) => findLiveManagementToken(tx, hashSecret(last)));
  // Replaces a token that was created by a release without `managesAccess`.
  if (last !== null && token?.managesAccess === true) return last;
  const input = {
    workspaceId,
    name: "Development",
    role: "owner",
    managesAccess: true,
    environment: null,
    expiresAt: null,
  } as const;
  return (await createManagementToken(control, ACTOR, input)).secret;
}

async function insertOwner(
  tx: Tx,
  owner: { workspaceId: number; email: string; passwordHash: string },
): Promise<Member> {
  await insertMember(tx, { ...owner, name: "Owner", role: "owner" });
  const member = await findMemberByEmail(tx, owner.email);
  assert(member !== null, "an inserted member is found");
  await audit(tx, member, "member.created");
  return member;
}

async function replacePassword(tx: Tx, member: Member, passwordHash: string): Promise<void> {
  await setPassword(tx, { id: member.id, passwordHash });
  await audit(tx, member, "member.password_reset");
}

async function audit(tx: Tx, member: Member, action: string): Promise<void> {
  const { workspaceId, id, email, name, role } = member;
  await insertControlAudit(tx, {
    workspaceId,
    actor: ACTOR,
    action,
    subject: email,
    before: null,
    after: { id: String(id), email, name, role },
  });
}
