import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Member } from "../../store/control/members.ts";
import type { Passkey } from "../../store/control/passkeys.ts";
import { ALGORITHMS, type CreationOptions, type RequestOptions, TRANSPORTS } from "./passkey-schema.ts";
import type { PendingLogIn } from "./second-factor.ts";

/** The site that passkeys belong to: a host name, and the only origin that may use them. */
export type RelyingParty = { readonly id: string; readonly origin: string };

const LOCAL = /^(.+\.)?localhost$/;

/**
 * The host of `PUBLIC_URL`. Without `PUBLIC_URL`, only localhost is trusted, because anyone can send a `Host` header. Null for an IP
 * address, because browsers do not offer passkeys there.
 */
export function relyingPartyOf(
  { protocol, headers }: Pick<FastifyRequest, "protocol" | "headers">,
  publicUrl: string | null,
): RelyingParty | null {
  const url = URL.parse(publicUrl ?? `${protocol}://${headers.host ?? ""}`);
  if (url === null) return null;
  const { hostname: id, origin } = url;
  if (isIP(id.replaceAll(/[[\]]/g, "")) !== 0) return null;
  return publicUrl !== null || LOCAL.test(id) ? { id, origin } : null;
}

/** How long a browser waits for the member. The challenge expires at the same time. */
const TIMEOUT_MS = 5 * 60_000;

/** The options of `navigator.credentials.get`. */
export function requestOptionsOf(
  { id: rpId }: RelyingParty,
  challenge: string,
  passkeys: readonly Passkey[],
): Static<typeof RequestOptions> {
  return {
    challenge,
    rpId,
    timeout: TIMEOUT_MS,
    // A stolen security key and a leaked password together must not open a session.
    userVerification: "required",
    allowCredentials: passkeys.map(describeCredential),
  };
}

/** The options of `navigator.credentials.create`. */
export function creationOptionsOf(
  { id }: RelyingParty,
  challenge: string,
  { member, passkeys }: { member: Pick<Member, "id" | "email" | "name">; passkeys: readonly Passkey[] },
): Static<typeof CreationOptions> {
  return {
    challenge,
    rp: { id, name: "Purser" },
    user: { id: userHandleOf(member), name: member.email, displayName: member.name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: "public-key" })),
    timeout: TIMEOUT_MS,
    attestation: "none",
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    excludeCredentials: passkeys.map(describeCredential),
  };
}

/** Stable, so that an authenticator replaces the member's older passkey instead of showing two. */
export function userHandleOf({ id }: Pick<Member, "id">): string {
  return Buffer.from(`purser-member-${id}`).toString("base64url");
}

function describeCredential({ credentialId, transports }: Passkey) {
  return {
    id: credentialId.toString("base64url"),
    type: "public-key" as const,
    transports: TRANSPORTS.filter((known) => transports.includes(known)),
  };
}

/** The error for a login that requires a passkey, or that requires a member to register a first passkey. */
export function secondFactorProblem(
  { token, challenge, member, passkeys }: PendingLogIn,
  party: RelyingParty | null,
): Problem {
  if (passkeys.length === 0) {
    const publicKey = party && creationOptionsOf(party, challenge, { member, passkeys });
    return new Problem("second_factor_setup_required", {
      detail: "Your role requires a passkey. Register one to finish the login.",
      extra: { secondFactor: { token, publicKey } },
    });
  }
  const publicKey = party && requestOptionsOf(party, challenge, passkeys);
  return new Problem("second_factor_required", {
    detail: "Use one of your passkeys or a recovery code to finish the login.",
    extra: { secondFactor: { token, publicKey } },
  });
}

/** Returns the relying party. Throws if passkeys cannot be used at this address. */
export function requireParty(party: RelyingParty | null): RelyingParty {
  if (party !== null) return party;
  throw new Problem("passkey_unavailable", {
    detail:
      "Passkeys need a host name: set `PUBLIC_URL` to the address of this installation, or open it on localhost. " +
      "They do not work at an IP address such as 127.0.0.1.",
  });
}
