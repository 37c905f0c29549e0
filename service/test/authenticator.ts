import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** The parts of a response that an attacker changes. Everything else is correct. */
export type Forgery = {
  readonly challenge?: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly userVerified?: boolean;
  readonly signatureCount?: number;
  readonly userHandle?: string;
  /** Signs with another key. */
  readonly key?: KeyObject;
  readonly attestation?: (of: { clientDataHash: Buffer; publicKey: KeyObject }) => {
    readonly format: string;
    /** A CBOR map. */
    readonly statement: Buffer;
  };
};

type Options = { readonly challenge: string };

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** An authenticator in software: ES256 and no attestation. Counts its signatures, like a security key. */
export class Authenticator {
  readonly id = randomBytes(16);
  readonly #origin: string;
  readonly #rpId: string;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  signatureCount = 0;

  constructor(origin: string) {
    this.#origin = origin;
    this.#rpId = new URL(origin).hostname;
  }

  get privateKey(): KeyObject {
    return this.#keys.privateKey;
  }

  /** The response to `navigator.credentials.create`. */
  create(options: Options, forgery: Forgery = {}) {
    const authData = Buffer.concat([
      this.#authData(forgery, HAS_CREDENTIAL),
      Buffer.alloc(16),
      Buffer.from([0, this.id.length]),
      this.id,
      this.#coseKey(),
    ]);
    const clientData = this.#clientData("webauthn.create", options, forgery);
    const { publicKey } = this.#keys;
    const forged = forgery.attestation?.({ clientDataHash: sha256(clientData), publicKey });
    const { format, statement } = forged ?? { format: "none", statement: Buffer.from([0xa0]) };
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText("fmt"),
      cborText(format),
      cborText("attStmt"),
      statement,
      cborText("authData"),
      cborBytes(authData),
    ]);
    return {
      id: this.id.toString("base64url"),
      rawId: this.id.toString("base64url"),
      type: "public-key",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        attestationObject: attestationObject.toString("base64url"),
        transports: ["internal"],
      },
      clientExtensionResults: {},
    };
  }

  /** The response to `navigator.credentials.get`. */
  get(options: Options, forgery: Forgery = {}) {
    this.signatureCount += 1;
    const authData = this.#authData(forgery, 0);
    const clientData = this.#clientData("webauthn.get", options, forgery);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    return {
      id: this.id.toString("base64url"),
      rawId: this.id.toString("base64url"),
      type: "public-key",
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authData.toString("base64url"),
        signature: sign("sha256", signed, forgery.key ?? this.privateKey).toString("base64url"),
        ...(forgery.userHandle === undefined ? {} : { userHandle: forgery.userHandle }),
      },
      clientExtensionResults: {},
    };
  }

  #clientData(type: string, { challenge }: Options, forgery: Forgery): Buffer {
    const origin = forgery.origin ?? this.#origin;
    const data = { type, challenge: forgery.challenge ?? challenge, origin, crossOrigin: false };
    return Buffer.from(JSON.stringify(data));
  }

  #authData({ rpId, userVerified = true, signatureCount }: Forgery, extraFlags: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(signatureCount ?? this.signatureCount);
    const flags = PRESENT | (userVerified ? VERIFIED : 0) | extraFlags;
    return Buffer.concat([sha256(rpId ?? this.#rpId), Buffer.from([flags]), count]);
  }

  /** The public key as a CBOR map: key type 2 (EC2), algorithm -7 (ES256), curve 1 (P-256), x and y. */
  #coseKey(): Buffer {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, "base64url"),
    ]);
  }
}

export function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

/** Bytes with a length of 16 bits. */
export function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function sha256(data: string | Buffer): Buffer {
  return createHash("sha256").update(data).digest();
}
