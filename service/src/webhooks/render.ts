import { formatTimestamp } from "../primitives/timestamp.ts";
import { type StoredNotice, TEST_TYPE } from "../store/cell/notices.ts";

/** The body of a delivery. Null if the customer was erased. */
export function renderNotice({
  type,
  customerId,
  sequence,
  details,
  effectiveAt,
}: StoredNotice): string | null {
  const timestamp = formatTimestamp(effectiveAt);
  if (type === TEST_TYPE) return JSON.stringify({ type, timestamp, data: {} });
  return customerId === null
    ? null
    : JSON.stringify({ type, timestamp, data: { customerId, sequence, ...details } });
}
