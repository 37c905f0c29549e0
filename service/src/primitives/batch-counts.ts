/** How many events of a batch were stored now, were already stored, or were rejected. */
export type BatchCounts = {
  readonly accepted: number;
  readonly replayed: number;
  readonly rejected: number;
};
