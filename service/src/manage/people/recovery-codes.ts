import { randomInt } from "node:crypto";
import type { Tx } from "../../postgres/statement.ts";
import { BASE_32_DIGITS } from "../../primitives/public-id.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { deleteRecoveryCodesOf, insertRecoveryCodes } from "../../store/control/recovery-codes.ts";

export const RECOVERY_CODES = 10;
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
  const digits = Array.from(
    { length: CODE_LENGTH },
    () => BASE_32_DIGITS[randomInt(BASE_32_DIGITS.length)] ?? "",
  ).join("");
  return digits.replaceAll(/.{4}(?=.)/g, "$&-");
}
