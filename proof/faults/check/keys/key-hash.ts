import { createHash } from "node:crypto";
import { toUuid } from "../public-uuid.ts";

/** As the table promises it: SHA-256 of the key, behind the time of one that is a UUIDv7 or a ULID. */
export function keyHashOf(key: string): string {
  return toUuid(`${timeOf(key)}${createHash("sha256").update(key).digest("hex")}`.slice(0, 32));
}

function timeOf(key: string): string {
  const uuid = /^(\w{8})-(\w{4})-7\w{3}-[89abAB]\w{3}-\w{12}$/.exec(key);
  if (uuid !== null && /^[0-9a-f-]+$/i.test(key)) return `${uuid[1]}${uuid[2]}`.toLowerCase();
  if (!/^[0-7][0-9A-TV-Z]{25}$/i.test(key) || /[ilou]/i.test(key)) return "";
  const bits = [...key.slice(0, 10).toUpperCase()].map((digit) =>
    "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(digit).toString(2).padStart(5, "0"),
  );
  return BigInt(`0b${bits.join("")}`)
    .toString(16)
    .padStart(12, "0");
}
