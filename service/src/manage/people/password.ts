import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const argon2Async = promisify(argon2);

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * No password has this hash, and a check takes as long as for any other hash. Stored by `purser reset-owner` until the member sets a new
 * password, and checked for unknown emails, so that their logins take as long.
 */
export const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Length limits for new passwords. Existing shorter passwords still work. */
export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 200;

/** Checks and hashes a member's new password. Throws if the password is rejected. */
export type HashNew = (password: string, email: string) => Promise<string>;

/** Whether the member has a password that works. After `purser reset-owner`, the member has joined but has none. */
export function hasPassword({ passwordHash }: { readonly passwordHash: string | null }): boolean {
  return passwordHash !== null && passwordHash !== NO_PASSWORD;
}

/** Returns a PHC string. The string includes the cost parameters, so that a later release can increase the cost. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(password, { ...COST, salt, tagLength: TAG_BYTES });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

export async function isPassword(password: string, stored: string): Promise<boolean> {
  const match = PHC.exec(stored);
  if (match === null) return false;
  const [, memory, passes, parallelism, salt = "", tag = ""] = match;
  const expected = Buffer.from(tag, "base64");
  const actual = await derive(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, "base64"),
    tagLength: expected.length,
  });
  return timingSafeEqual(actual, expected);
}

type Cost = { memory: number; passes: number; parallelism: number; salt: Buffer; tagLength: number };

function derive(password: string, { salt, ...cost }: Cost): Promise<Buffer> {
  // Normalizes the password, because keyboards can encode the same characters differently.
  return argon2Async("argon2id", { message: password.normalize("NFKC"), nonce: salt, ...cost });
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
