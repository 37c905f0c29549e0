import { Type } from "typebox";
import { nullable, strictObject, timeField } from "../fields.ts";
import { RECOVERY_CODES } from "./recovery-codes.ts";
import { Me } from "./schema.ts";

/** Maximum number of passkeys for each member. */
export const PASSKEYS_MAX = 20;
/** Algorithms that authenticators may use, most preferred first: EdDSA, ES256 and RS256. */
export const ALGORITHMS = [-8, -7, -257] as const;
export const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;

const nameField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "A name to recognize the passkey by.",
  examples: ["Work laptop"],
});

const base64Field = (maxLength: number, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$", examples: [example] });

export const challengeTokenField = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    "The `token` that came with the options. Valid for 5 minutes and 5 attempts, until the password changes.",
  examples: ["pur_factor_…"],
});

const credentialFields = {
  id: base64Field(1_400, "kqXBSbGFQvGzr1hS0oX1Vg"),
  type: Type.Literal("public-key"),
};

// Not strict, because browsers add fields to these objects with each version of Web Authentication. Unknown fields are not read.
export const Assertion = Type.Object(
  {
    ...credentialFields,
    response: Type.Object({
      clientDataJSON: base64Field(2_000, "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"),
      authenticatorData: base64Field(2_000, "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ"),
      signature: base64Field(1_400, "MEUCIQDq"),
      userHandle: Type.Optional(
        nullable(Type.String({ maxLength: 100, examples: ["cHVyc2VyLW1lbWJlci0z"] })),
      ),
    }),
  },
  {
    description:
      "The result of `navigator.credentials.get`, as the `toJSON` method of the browser returns it.",
  },
);

export const Attestation = Type.Object(
  {
    ...credentialFields,
    response: Type.Object({
      clientDataJSON: base64Field(2_000, "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0"),
      attestationObject: base64Field(12_000, "o2NmbXRkbm9uZWdhdHRTdG10oA"),
      transports: Type.Optional(
        Type.Array(Type.String({ maxLength: 40, examples: ["internal"] }), { maxItems: 20 }),
      ),
    }),
  },
  {
    description:
      "The result of `navigator.credentials.create`, as the `toJSON` method of the browser returns it.",
  },
);

/** Larger than other bodies without credentials, because an attestation has a public key. */
export const ATTESTATION_BYTES_MAX = 32 * 1024;

const challengeField = Type.String({ examples: ["mEfXm3mYnyvPuhfoFYfbAeBRUvbQ4vHUpWrTf6sRLT0"] });
const timeoutField = Type.Integer({ description: "In milliseconds.", examples: [300_000] });

const Credential = Type.Object({
  id: Type.String({ examples: ["kqXBSbGFQvGzr1hS0oX1Vg"] }),
  type: Type.Literal("public-key"),
  transports: Type.Array(Type.Enum([...TRANSPORTS])),
});

export const RequestOptions = Type.Object({
  challenge: challengeField,
  rpId: Type.String({ examples: ["purser.example.com"] }),
  timeout: timeoutField,
  userVerification: Type.Literal("required"),
  allowCredentials: Type.Array(Credential),
});

export const CreationOptions = Type.Object(
  {
    challenge: challengeField,
    rp: Type.Object({
      id: Type.String({ examples: ["purser.example.com"] }),
      name: Type.String({ examples: ["Purser"] }),
    }),
    user: Type.Object({
      id: Type.String({ examples: ["cHVyc2VyLW1lbWJlci0z"] }),
      name: Type.String({ examples: ["ada@example.com"] }),
      displayName: Type.String({ examples: ["Ada Lovelace"] }),
    }),
    pubKeyCredParams: Type.Array(
      Type.Object({ alg: Type.Integer({ examples: [-7] }), type: Type.Literal("public-key") }),
    ),
    timeout: timeoutField,
    attestation: Type.Literal("none"),
    authenticatorSelection: Type.Object({
      residentKey: Type.Literal("preferred"),
      userVerification: Type.Literal("required"),
    }),
    excludeCredentials: Type.Array(Credential),
  },
  { description: "The options of `navigator.credentials.create`, in the JSON format of Web Authentication." },
);

export const recoveryCodesField = Type.Array(Type.String({ examples: ["7k2m-9qxd-0rtv-4hwa"] }), {
  description: `${RECOVERY_CODES} codes. Each works once, in place of a passkey. Shown only in this response.`,
});

export const Passkey = Type.Object({
  id: Type.String({ examples: ["4"] }),
  name: nameField,
  createdAt: timeField,
  lastUsedAt: nullable(timeField),
});

export const OwnPasskeys = Type.Object({
  items: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer({
    description: "The number of unused recovery codes.",
    examples: [RECOVERY_CODES],
  }),
  isRequired: Type.Boolean({ description: "True if your role requires a second factor." }),
  origin: nullable(
    Type.String({
      description:
        "The only address at which your browser can use these passkeys. Null if this installation has no host name.",
      examples: ["https://purser.example.com"],
    }),
  ),
});

export const NewPasskeyBody = strictObject({
  token: challengeTokenField,
  name: nameField,
  passkey: Attestation,
});

export const RenameBody = strictObject({ name: nameField });

export const SecondFactorBody = strictObject({
  token: challengeTokenField,
  passkey: Type.Optional(Assertion),
  recoveryCode: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Send either `passkey` or `recoveryCode`.",
      examples: ["7k2m-9qxd-0rtv-4hwa"],
    }),
  ),
});

export const SetUpAnswer = Type.Object({ me: Me, recoveryCodes: recoveryCodesField });
