const EVENT_ID = /^evt_([0-9a-hjkmnp-tv-z]{26})$/;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** From `evt_…` back to the uuid of the row; null when it is no event id. Written apart from the service's encoder. */
export function findEventUuid(eventId: string): string | null {
  const digits = EVENT_ID.exec(eventId)?.[1];
  if (digits === undefined) return null;
  let value = 0n;
  for (const digit of digits) value = value * 32n + BigInt(ALPHABET.indexOf(digit));
  const hex = value.toString(16).padStart(32, "0");
  if (hex.length > 32) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
