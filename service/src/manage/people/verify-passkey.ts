import type { Static } from "typebox";
import type { Passkey } from "../../store/control/passkeys.ts";
import { ALGORITHMS, type Assertion, type Attestation, TRANSPORTS } from "./passkey-schema.ts";
import type { RelyingParty } from "./relying-party.ts";

/** Loaded on first use, because most processes never verify a passkey and the library is large. */
const loadLibrary = () => import("@simplewebauthn/server");
const loadHelpers = () => import("@simplewebauthn/server/helpers");

export type RegisteredKey = Pick<Passkey, "credentialId" | "publicKey" | "signatureCount" | "transports">;

/** A passkey that a browser created, with the token of its challenge. */
export type NewPasskey = {
  readonly token: string;
  readonly name: string;
  readonly passkey: Static<typeof Attestation>;
  readonly party: RelyingParty;
};

/**
 * Verifies a new passkey: challenge, origin, site, user verification and algorithm. Null if one of them is wrong, or if the passkey comes
 * with an attestation. Call it outside of transactions.
 */
export async function verifyAttestation(
  { id, type, response }: Static<typeof Attestation>,
  expected: { readonly challenge: string; readonly party: RelyingParty },
): Promise<RegisteredKey | null> {
  const { verifyRegistrationResponse } = await loadLibrary();
  const { clientDataJSON, attestationObject, transports = [] } = response;
  if (!(await isWithoutAttestation(attestationObject))) return null;
  const verified = await orNull(() =>
    verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type,
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.party.origin,
      expectedRPID: expected.party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    }),
  );
  if (verified === null || !verified.verified) return null;
  const { credential } = verified.registrationInfo;
  return {
    credentialId: Buffer.from(credential.id, "base64url"),
    publicKey: Buffer.from(credential.publicKey),
    signatureCount: credential.counter,
    transports: TRANSPORTS.filter((known) => transports.includes(known)),
  };
}

/**
 * The options do not ask for an attestation, so browsers remove it. The library would verify other formats, and request the URLs that an
 * attacker's certificate names.
 */
async function isWithoutAttestation(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await loadHelpers();
  const decoded = await orNull(async () =>
    decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url"))),
  );
  return decoded?.get("fmt") === "none";
}

/** Verifies a signature of a passkey. Returns the authenticator's signature count, or null if the signature is not valid here. */
export async function verifyAssertion(
  { id, type, response }: Static<typeof Assertion>,
  expected: { readonly challenge: string; readonly party: RelyingParty; readonly userHandle: string },
  { publicKey }: Passkey,
): Promise<number | null> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  if (typeof userHandle === "string" && userHandle !== "" && userHandle !== expected.userHandle) return null;
  const { verifyAuthenticationResponse } = await loadLibrary();
  const verified = await orNull(() =>
    verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type,
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.party.origin,
      expectedRPID: expected.party.id,
      requireUserVerification: true,
      // The caller compares the count, so that a copied passkey is distinguished from a wrong signature.
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    }),
  );
  return verified?.verified === true ? verified.authenticationInfo.newCounter : null;
}

/** The library throws an error for each check that fails. */
async function orNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
