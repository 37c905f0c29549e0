import type { Item } from "../../../api/answer.ts";

export type Member = Item<"listMembers">;

/** An invitation that nobody accepted yet does not count: such an owner could let nobody in. */
export function isLastOwner(member: Member, all: readonly Member[]): boolean {
  const isOwner = ({ role, status }: Member): boolean => role === "owner" && status === "active";
  return isOwner(member) && all.filter(isOwner).length === 1;
}
