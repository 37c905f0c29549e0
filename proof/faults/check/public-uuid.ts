const PUBLIC_ID = /^([a-z]+)_([0-9a-hjkmnp-tv-z]{26})$/;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** From `evt_…` or `con_…` back to the uuid; null when it is no such id. Written apart from the service's encoder. */
export function findUuid(prefix: "evt" | "con", id: string | null): string | null {
  const [, found, digits] = PUBLIC_ID.exec(id ?? "") ?? [];
  if (found !== prefix || digits === undefined) return null;
  let value = 0n;
  for (const digit of digits) value = value * 32n + BigInt(ALPHABET.indexOf(digit));
  const hex = value.toString(16).padStart(32, "0");
  return hex.length > 32 ? null : toUuid(hex);
}

export function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
