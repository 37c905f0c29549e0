import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { assert } from "../../primitives/assert.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findLink, insertLink, useLink } from "../../store/control/links.ts";
import { countMembers, insertMember, lockMembership } from "../../store/control/members.ts";
import { getFirstWorkspace } from "../../store/control/projects.ts";
import { type HashNew, hashPassword } from "./password.ts";
import { openSessionIn, type Visit } from "./sign-in.ts";

const SYSTEM: Actor = { kind: "system", id: null, requestId: null };
const SETUP_SECONDS = 24 * 3_600;

export type NewOwner = { readonly email: string; readonly name: string; readonly password: string };

/** Setup is needed until the first member exists. */
export async function isSetupNeeded(control: Pool): Promise<boolean> {
  return (await single(control, countMembers)) === 0;
}

/** Creates the token of a setup link. Null if a member already exists. */
export function makeSetupLink(control: Pool): Promise<string | null> {
  return transaction(control, async (tx) => {
    if ((await countMembers(tx)) > 0) return null;
    const token = makeSecret("pur_link_");
    await insertLink(tx, {
      tokenHash: hashSecret(token),
      purpose: "setup",
      memberId: null,
      seconds: SETUP_SECONDS,
      createdBy: SYSTEM,
    });
    return token;
  });
}

export type SetUpOutcome =
  | { kind: "created"; memberId: number; workspaceId: number; sessionToken: string }
  | { kind: "link_invalid" };

/** Creates the first owner. If two callers use the link concurrently, only one succeeds. */
export async function setUp(
  control: Pool,
  token: string,
  owner: NewOwner,
  visit: Visit,
  hash: HashNew,
): Promise<SetUpOutcome> {
  const tokenHash = hashSecret(token);
  // Checks the link first, so that callers with invalid tokens cannot use up CPU with password hashes.
  const link = await single(control, (tx) => findLink(tx, tokenHash));
  if (link?.purpose !== "setup") return { kind: "link_invalid" };
  // Hashes the password before the transaction, so that no lock is held during the hash.
  const passwordHash = await hash(owner.password, owner.email);
  return transaction<SetUpOutcome>(
    control,
    async (tx) => {
      const workspaceId = await lockFirstWorkspace(tx);
      const link = await useLink(tx, { tokenHash, purposes: ["setup"] });
      if (link === null || (await countMembers(tx)) > 0) return { kind: "link_invalid" };
      const { requestId } = visit;
      const memberId = await insertOwner(tx, workspaceId, { ...owner, passwordHash, requestId });
      const email = owner.email.toLowerCase();
      const opened = await openSessionIn(tx, { id: memberId, workspaceId, email }, visit);
      // Only an owner with a passkey can require a second factor.
      assert(opened.kind === "session", "the first owner needs no second factor");
      return { kind: "created", memberId, workspaceId, sessionToken: opened.sessionToken };
    },
    ({ kind }) => kind === "created",
  );
}

/** Creates the first owner for unattended installations. Returns false if a member already exists. */
export async function createFirstOwner(control: Pool, owner: NewOwner): Promise<boolean> {
  const passwordHash = await hashPassword(owner.password);
  return transaction(control, async (tx) => {
    const workspaceId = await lockFirstWorkspace(tx);
    if ((await countMembers(tx)) > 0) return false;
    await insertOwner(tx, workspaceId, { ...owner, passwordHash, requestId: null });
    return true;
  });
}

async function lockFirstWorkspace(tx: Tx): Promise<number> {
  const workspaceId = await getFirstWorkspace(tx);
  await lockMembership(tx);
  return workspaceId;
}

async function insertOwner(
  tx: Tx,
  workspaceId: number,
  owner: { email: string; name: string; passwordHash: string; requestId: string | null },
): Promise<number> {
  const email = owner.email.toLowerCase();
  const { name, passwordHash, requestId } = owner;
  const id = await insertMember(tx, { workspaceId, email, name, role: "owner", passwordHash });
  await insertControlAudit(tx, {
    workspaceId,
    actor: requestId === null ? SYSTEM : { kind: "member", id: String(id), requestId },
    action: "member.created",
    subject: email,
    before: null,
    after: { id: String(id), email, name, role: "owner" },
  });
  return id;
}
