import { randomInt } from "node:crypto";
import type { Tx } from "../../postgres/statement.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { deleteRecoveryCodesOf, insertRecoveryCodes } from "../../store/control/recovery-codes.ts";

export const RECOVERY_CODES = 10;
/** 32 characters without i, l, o and u, which are easy to confuse. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 random bits, so that a plain hash is enough. */
const CODE_LENGTH = 16;

/** Replaces the member's recovery codes. Returns the new codes, of which only hashes are stored. */
export async function replaceRecoveryCodes(tx: Tx, memberId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeCode);
  await deleteRecoveryCodesOf(tx, memberId);
  await insertRecoveryCodes(tx, { memberId, hashes: codes.map(hashRecoveryCode) });
  return codes;
}

/** Ignores hyphens, spaces and letter case, because people type these codes. */
export function hashRecoveryCode(code: string): Buffer {
  return hashSecret(code.toLowerCase().replaceAll(/[^0-9a-z]/g, ""));
}

function makeCode(): string {
  const digits = Array.from({ length: CODE_LENGTH }, () => DIGITS[randomInt(DIGITS.length)] ?? "").join("");
  return digits.replaceAll(/.{4}(?=.)/g, "$&-");
}
