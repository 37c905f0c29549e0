/** How many events of a batch were stored, were stored before, or were rejected. */
export type BatchCounts = {
  readonly accepted: number;
  readonly replayed: number;
  readonly rejected: number;
};
