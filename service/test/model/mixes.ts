import type { Mix } from "./actions.ts";

const NOTHING: Mix = {
  among: 1,
  several: 0,
  check: 0,
  consume: 0,
  hold: 0,
  settle: 0,
  release: 0,
  extend: 0,
  assign: 0,
  end: 0,
  drop_next: 0,
  override: 0,
  add: 0,
  revoke: 0,
  reverse: 0,
  reverse_request: 0,
  publish: 0,
  default: 0,
  block: 0,
  unblock: 0,
};
export const EVERYTHING: Mix = {
  among: 4,
  several: 4,
  check: 4,
  consume: 24,
  hold: 12,
  settle: 8,
  release: 3,
  extend: 4,
  assign: 12,
  end: 2,
  drop_next: 1,
  override: 6,
  add: 12,
  revoke: 4,
  reverse: 8,
  reverse_request: 5,
  publish: 6,
  default: 2,
  block: 1,
  unblock: 3,
};
export const CREDITS: Mix = { ...NOTHING, consume: 6, add: 6, revoke: 3, reverse: 3, reverse_request: 2 };
/** Additions are as large as possible, and charges make room for more. */
export const NEAR_CAP: Mix = { ...CREDITS, assign: 1, publish: 1 };
export const ITEMS: Mix = { ...CREDITS, among: 4, several: 8, reverse_request: 4, assign: 1, publish: 1 };
export const VERSIONS: Mix = { ...NOTHING, consume: 6, publish: 4, reverse: 1, assign: 1, end: 1 };
export const HOLDS: Mix = {
  ...VERSIONS,
  among: 2,
  several: 3,
  consume: 3,
  hold: 10,
  settle: 4,
  release: 2,
  extend: 4,
  add: 5,
  revoke: 3,
  publish: 2,
  reverse: 2,
  reverse_request: 1,
  assign: 3,
  override: 1,
};
export const OVERRIDES: Mix = {
  ...VERSIONS,
  among: 2,
  several: 2,
  consume: 12,
  override: 4,
  publish: 1,
  reverse: 2,
  assign: 2,
};
