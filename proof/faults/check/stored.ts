export type StoredEvent = {
  readonly id: string;
  /** From the metadata; null on a row that no client of ours sent. */
  readonly marker: string | null;
  /** Null when the row names a customer that is not there. */
  readonly customerId: string | null;
  readonly event: string;
  readonly quantity: number;
  readonly featureId: number | null;
};

export type StoredKey = { readonly key: string; readonly subjectId: string };

/** All rows of the two tables, as of one snapshot. */
export type Stored = { readonly events: readonly StoredEvent[]; readonly keys: readonly StoredKey[] };
