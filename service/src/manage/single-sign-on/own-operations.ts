import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { findIdentityOf } from "../../store/control/identities.ts";
import { findMember } from "../../store/control/members.ts";
import { nullable, timeField, timeOrNull } from "../fields.ts";
import { type Call, type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { refusedChange } from "../people/passkey-operations.ts";
import { hasPassword } from "../people/password.ts";
import { disconnectAccount } from "./connect.ts";
import { NOUN, requireProvider, startConnecting } from "./operations.ts";
import { mayUsePassword } from "./settings.ts";

const PATH = "/manage/v1/session/sign-on";

export const OwnSignOn = Type.Object({
  isConfigured: Type.Boolean({ description: "True if members can use single sign-on." }),
  mayUsePassword: Type.Boolean({
    description: "True if you have a password and may log in with it. False for a token.",
  }),
  account: nullable(
    Type.Object(
      {
        issuer: Type.String({ description: "The provider.", examples: ["https://id.example.com"] }),
        connectedAt: timeField,
        lastUsedAt: nullable(timeField),
      },
      { description: "Null if you have not connected single sign-on." },
    ),
  ),
});

/** Operations on the caller's own account at the provider. */
export function ownSignOnOperations(parts: ManageParts): Operation[] {
  const { control, cellNamed, signOn } = parts;
  return [
    operation({
      method: "GET",
      path: PATH,
      access: "signed_in",
      id: "readOwnSignOn",
      noun: NOUN,
      summary: "Read how you can log in",
      description: "Returns whether you have connected single sign-on, and whether you may use a password.",
      answer: OwnSignOn,
      handle: async (call) => {
        const { kind, id, workspaceId } = principalOf(call);
        const issuer = signOn?.settings.issuer ?? "";
        const { member, account } = await single(control, async (tx) => ({
          member: kind === "member" ? await findMember(tx, { workspaceId, id }) : null,
          account: kind === "member" ? await findIdentityOf(tx, { memberId: id, issuer }) : null,
        }));
        const settings = signOn?.settings ?? null;
        return {
          isConfigured: signOn !== null,
          mayUsePassword: member !== null && hasPassword(member) && mayUsePassword(settings, member),
          account: account && {
            issuer: account.issuer,
            connectedAt: formatTimestamp(account.connectedAt),
            lastUsedAt: timeOrNull(account.lastUsedAt),
          },
        };
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: "signed_in",
      id: "connectSignOn",
      noun: NOUN,
      summary: "Connect single sign-on",
      description:
        "Returns the provider's URL. Open it in the same browser within 10 minutes. The account must have your email address, verified " +
        "by the provider. Requires a session opened within the last 10 minutes.",
      answer: Type.Object({
        url: Type.String({ examples: ["https://id.example.com/authorize?client_id=…"] }),
      }),
      codes: ["not_found", "role_missing", "recent_log_in_required", "upgrade_unfinished"],
      handle: async (call) => {
        const provider = requireProvider(signOn);
        return { url: await startConnecting({ control, cellNamed, provider }, call, sessionOf(call)) };
      },
    }),
    operation({
      method: "DELETE",
      path: PATH,
      access: "signed_in",
      id: "disconnectSignOn",
      noun: NOUN,
      summary: "Disconnect single sign-on",
      description:
        "Ends the sessions that single sign-on opened for you. Rejected if you have no password, because you could not log in again. " +
        "Requires a login within the last 10 minutes, with a passkey or recovery code if you have a passkey.",
      answer: Type.Object({ disconnected: Type.Boolean() }),
      codes: ["not_found", "role_missing", "sso_required", "recent_log_in_required"],
      handle: async (call) => {
        const { settings } = requireProvider(signOn);
        const input = { ...sessionOf(call), requestId: call.request.id };
        const outcome = await disconnectAccount(control, settings, input);
        if (outcome === "log_in_again") throw refusedChange(outcome);
        if (outcome === "no_password")
          throw new Problem("sso_required", {
            detail: "You cannot use a password, so you could not log in again.",
          });
        return { disconnected: outcome === "disconnected" };
      },
    }),
  ];
}

function sessionOf(call: Call): { memberId: number; sessionHash: Buffer } {
  const { id, sessionHash } = principalOf(call);
  if (sessionHash === null)
    throw new Problem("role_missing", { detail: "A token cannot use single sign-on." });
  return { memberId: id, sessionHash };
}
