import type { Actor } from "./audit-actors.ts";

const KINDS = {
  member: "A member",
  token: "A management token",
  command: "The command line",
  system: "Purser itself",
} as const satisfies Record<Actor["kind"], string>;

/** Who did it, by the name that people know. */
export function ActorName({ actor: { kind, id, name } }: { actor: Actor }) {
  const known = name ?? id ?? KINDS[kind];
  return (
    <span title={known === KINDS[kind] ? known : `${known}: ${KINDS[kind].toLowerCase()}`}>{known}</span>
  );
}
