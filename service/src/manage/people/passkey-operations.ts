import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { assertNever } from "../../primitives/assert.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { getFactors, listPasskeys, type Passkey as StoredPasskey } from "../../store/control/passkeys.ts";
import { countUnusedRecoveryCodes } from "../../store/control/recovery-codes.ts";
import { readRowId } from "../../store/control/row-id.ts";
import { nullable, timeOrNull } from "../fields.ts";
import { type Call, type Operation, operation, principalOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { refuseEarlySecondFactor } from "../refuse-unfinished-upgrade.ts";
import { toProblem } from "./membership.ts";
import {
  addPasskey,
  deleteOwnPasskey,
  renameOwnPasskey,
  renewRecoveryCodes,
  type SelfInSession,
  startRegistration,
} from "./own-passkeys.ts";
import {
  ATTESTATION_BYTES_MAX,
  CreationOptions,
  challengeTokenField,
  NewPasskeyBody,
  OwnPasskeys,
  PASSKEYS_MAX,
  Passkey,
  RenameBody,
  recoveryCodesField,
} from "./passkey-schema.ts";
import { creationOptionsOf, relyingPartyOf, requireParty } from "./relying-party.ts";
import { isSecondFactorRequired } from "./second-factor.ts";
import { expired, passkeyInvalid } from "./second-factor-operations.ts";
import { visitOf } from "./session-reply.ts";

const NOUN = "Passkeys";
const PATH = "/manage/v1/passkeys";
const passkeyParams = Type.Object({ id: Type.String({ examples: ["4"] }) });
const RECENT =
  "Requires a login within the last 10 minutes, with a passkey or recovery code if you have a passkey. Ends your other sessions.";

/** The passkeys and recovery codes of the member who calls. */
export function passkeyOperations(parts: ManageParts): Operation[] {
  return [listOperation(parts), ...registerOperations(parts), ...changeOperations(parts)];
}

function listOperation({ control, publicUrl }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: PATH,
    access: "signed_in",
    id: "listPasskeys",
    noun: NOUN,
    summary: "List your passkeys",
    description: `Lists your passkeys, at most ${PASSKEYS_MAX}, oldest first. A token has no passkeys.`,
    answer: OwnPasskeys,
    handle: async (call) => {
      const { kind, id } = principalOf(call);
      const origin = relyingPartyOf(call.request, publicUrl)?.origin ?? null;
      if (kind === "token") return { items: [], recoveryCodesLeft: 0, isRequired: false, origin };
      return single(control, async (tx) => ({
        items: (await listPasskeys(tx, id)).map(describePasskey),
        recoveryCodesLeft: await countUnusedRecoveryCodes(tx, id),
        isRequired: isSecondFactorRequired(await getFactors(tx, id)),
        origin,
      }));
    },
  });
}

function registerOperations({ control, cellNamed, publicUrl }: ManageParts): Operation[] {
  return [
    operation({
      method: "POST",
      path: `${PATH}/options`,
      access: "signed_in",
      id: "startPasskey",
      noun: NOUN,
      summary: "Start registering a passkey",
      description: `Returns the options for the browser, and the token for the next call. ${RECENT.split(".")[0]}.`,
      answer: Type.Object({ token: challengeTokenField, publicKey: CreationOptions }),
      codes: [...OWN_CODES, "too_many_passkeys", "upgrade_unfinished"],
      handle: async (call) => {
        const self = selfOf(call);
        const party = requireParty(relyingPartyOf(call.request, publicUrl));
        await refuseEarlySecondFactor(cellNamed);
        const outcome = await startRegistration(control, self);
        switch (outcome.kind) {
          case "made": {
            const { member, passkeys, made } = outcome;
            const { token, challenge } = made;
            return { token, publicKey: creationOptionsOf(party, challenge, { member, passkeys }) };
          }
          case "too_many":
            throw tooMany();
          case "no_password":
            throw new Problem("passkey_unavailable", {
              detail: "You log in without a password, so Purser does not use a second factor.",
            });
          default:
            throw refusedChange(outcome.kind);
        }
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: "signed_in",
      id: "addPasskey",
      noun: NOUN,
      summary: "Add a passkey",
      description:
        "Stores the passkey that the browser created. From now on, you need a passkey or a recovery code to log in. Ends your other " +
        "sessions. The first passkey comes with recovery codes.",
      body: NewPasskeyBody,
      bodyBytesMax: ATTESTATION_BYTES_MAX,
      answer: Type.Object({ passkey: Passkey, recoveryCodes: nullable(recoveryCodesField) }),
      codes: [
        "already_exists",
        "passkey_invalid",
        "passkey_unavailable",
        "second_factor_expired",
        "too_many_passkeys",
      ],
      handle: async (call) => {
        const self = selfOf(call);
        const party = requireParty(relyingPartyOf(call.request, publicUrl));
        const outcome = await addPasskey(control, self, { ...call.body, party });
        switch (outcome.kind) {
          case "added": {
            const { passkey, recoveryCodes } = outcome;
            return { passkey: describePasskey(passkey), recoveryCodes: recoveryCodes && [...recoveryCodes] };
          }
          case "session_ended":
            throw refusedChange(outcome.kind);
          case "expired":
            throw expired();
          case "invalid":
            throw passkeyInvalid();
          case "already_registered":
            throw new Problem("already_exists", { detail: "This passkey is already registered." });
          case "too_many":
            throw tooMany();
          default:
            return assertNever(outcome);
        }
      },
    }),
  ];
}

function changeOperations({ control }: ManageParts): Operation[] {
  return [
    operation({
      method: "PATCH",
      path: `${PATH}/:id`,
      access: "signed_in",
      id: "renamePasskey",
      noun: NOUN,
      summary: "Rename a passkey",
      description: "Changes the name of one of your passkeys.",
      params: passkeyParams,
      body: RenameBody,
      answer: Passkey,
      codes: ["passkey_unavailable", "not_found"],
      handle: async (call) => {
        const id = passkeyIdOf(call);
        const outcome = await renameOwnPasskey(control, selfOf(call), { id, name: call.body.name });
        if (outcome.kind === "not_found") throw noSuchPasskey();
        return describePasskey(outcome.passkey);
      },
    }),
    operation({
      method: "DELETE",
      path: `${PATH}/:id`,
      access: "signed_in",
      id: "deletePasskey",
      noun: NOUN,
      summary: "Delete a passkey",
      description:
        `${RECENT} Deleting your last passkey also deletes your recovery codes. ` +
        "If your role requires a second factor, you cannot delete your last passkey.",
      params: passkeyParams,
      answer: Type.Object({ deleted: Type.Boolean() }),
      codes: [...OWN_CODES, "not_found", "last_passkey"],
      handle: async (call) => {
        const { kind } = await deleteOwnPasskey(control, selfOf(call), passkeyIdOf(call));
        if (kind === "not_found") throw noSuchPasskey();
        if (kind === "last_passkey") {
          throw new Problem("last_passkey", {
            detail: "Your role requires a second factor. Add another passkey before you delete this one.",
          });
        }
        if (kind !== "deleted") throw refusedChange(kind);
        return { deleted: true };
      },
    }),
    operation({
      method: "POST",
      path: "/manage/v1/recovery-codes",
      access: "signed_in",
      id: "createRecoveryCodes",
      noun: NOUN,
      summary: "Create new recovery codes",
      description: `Replaces all your recovery codes. ${RECENT}`,
      answer: Type.Object({ recoveryCodes: recoveryCodesField }),
      codes: [...OWN_CODES, "passkey_missing"],
      handle: async (call) => {
        const outcome = await renewRecoveryCodes(control, selfOf(call));
        if (outcome.kind === "no_passkey") {
          throw new Problem("passkey_missing", { detail: "Add a passkey first." });
        }
        if (outcome.kind !== "made") throw refusedChange(outcome.kind);
        return { recoveryCodes: [...outcome.recoveryCodes] };
      },
    }),
  ];
}

const OWN_CODES = ["passkey_unavailable", "recent_log_in_required"] as const;

function selfOf(call: Call): SelfInSession {
  const { kind, id, sessionHash } = principalOf(call);
  if (kind === "token" || sessionHash === null) {
    throw new Problem("passkey_unavailable", { detail: "A token has no passkeys." });
  }
  return { id, sessionHash, visit: visitOf(call.request) };
}

function passkeyIdOf({ params }: Call<{ id: string }>): number {
  const id = readRowId(params.id);
  if (id === null) throw noSuchPasskey();
  return id;
}

function noSuchPasskey(): Problem {
  return new Problem("not_found", { detail: "You have no such passkey." });
}

function tooMany(): Problem {
  return new Problem("too_many_passkeys", {
    detail: `You already have ${PASSKEYS_MAX} passkeys. Delete one first.`,
  });
}

export function refusedChange(kind: "session_ended" | "log_in_again"): Problem {
  if (kind === "session_ended") return toProblem("author_gone");
  return new Problem("recent_log_in_required", {
    detail: "Log in again to make this change, with a passkey if you have one. You then have 10 minutes.",
  });
}

function describePasskey({ id, name, createdAt, lastUsedAt }: StoredPasskey): Static<typeof Passkey> {
  return {
    id: String(id),
    name,
    createdAt: formatTimestamp(createdAt),
    lastUsedAt: timeOrNull(lastUsedAt),
  };
}
