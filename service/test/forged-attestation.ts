import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { cborBytes, cborText } from "./authenticator.ts";

/**
 * An "android-key" attestation of an attacker's own certificate authority. Its certificate names the URL of a list of revoked
 * certificates. Everything up to the check of that list is correct.
 */
export function androidKeyAttestation(
  revocationUrl: string,
  { clientDataHash, publicKey }: { clientDataHash: Buffer; publicKey: KeyObject },
): { format: string; statement: Buffer } {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signedBy = authority.privateKey;
  const keyDescription = sequence(
    integer(3),
    tlv(0x0a, Buffer.from([1])),
    integer(4),
    tlv(0x0a, Buffer.from([1])),
    tlv(0x04, clientDataHash),
    tlv(0x04, Buffer.alloc(0)),
    sequence(),
    sequence(),
  );
  const revocation = sequence(sequence(tlv(0xa0, tlv(0xa0, tlv(0x86, Buffer.from(revocationUrl))))));
  const leaf = certificate({
    serial: 2,
    subject: "Key",
    publicKey,
    signedBy,
    extensions: [extension(KEY_DESCRIPTION, keyDescription), extension(CRL_DISTRIBUTION_POINTS, revocation)],
  });
  const root = certificate({
    serial: 1,
    subject: AUTHORITY,
    publicKey: authority.publicKey,
    signedBy,
    extensions: [extension(BASIC_CONSTRAINTS, sequence(tlv(0x01, Buffer.from([0xff]))))],
  });
  const statement = Buffer.concat([
    Buffer.from([0xa3]),
    cborText("alg"),
    Buffer.from([0x26]),
    cborText("sig"),
    cborBytes(Buffer.alloc(70)),
    cborText("x5c"),
    Buffer.from([0x82]),
    cborBytes(leaf),
    cborBytes(root),
  ]);
  return { format: "android-key", statement };
}

const AUTHORITY = "Attacker";
// Object identifiers, in the encoding of X.509.
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const CRL_DISTRIBUTION_POINTS = "551d1f";
const KEY_DESCRIPTION = "2b06010401d679020111";

function certificate({
  serial,
  subject,
  publicKey,
  signedBy,
  extensions,
}: {
  serial: number;
  subject: string;
  publicKey: KeyObject;
  signedBy: KeyObject;
  extensions: Buffer[];
}): Buffer {
  const algorithm = sequence(identifier(ECDSA_WITH_SHA256));
  const signed = sequence(
    tlv(0xa0, integer(2)),
    integer(serial),
    algorithm,
    name(AUTHORITY),
    sequence(time("250101000000Z"), time("491231235959Z")),
    name(subject),
    publicKey.export({ format: "der", type: "spki" }),
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", signed, signedBy);
  return sequence(signed, algorithm, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])));
}

const name = (text: string) =>
  sequence(tlv(0x31, sequence(identifier(COMMON_NAME), tlv(0x0c, Buffer.from(text)))));
const extension = (id: string, value: Buffer) => sequence(identifier(id), tlv(0x04, value));
const identifier = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"));
const integer = (value: number) => tlv(0x02, Buffer.from([value]));
const time = (text: string) => tlv(0x17, Buffer.from(text));
const sequence = (...parts: Buffer[]) => tlv(0x30, Buffer.concat(parts));

/** A value in ASN.1 with its tag and length. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), value]);
}
