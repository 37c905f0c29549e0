import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { GrantActor } from "../../store/cell/audit.ts";
import { listApiKeyNames } from "../../store/control/api-key-list.ts";
import { listTokenNames } from "../../store/control/management-tokens.ts";
import { listMemberNames } from "../../store/control/members.ts";
import { nullable } from "../fields.ts";

export const ActorName = Type.Object({
  kind: Type.String({
    description: "`member`, `token`, `api_key`, `command` or `system`.",
    examples: ["member"],
  }),
  id: nullable(Type.String({ examples: ["3"] })),
  name: nullable(
    Type.String({ description: "Set for members, tokens and API keys.", examples: ["Olga Owner"] }),
  ),
});

export type ActorName = Static<typeof ActorName>;

/** Adds the names of members, tokens and API keys in this workspace. */
export async function nameActors(
  control: Pool,
  workspaceId: number,
  actors: readonly (GrantActor | null)[],
): Promise<(ActorName | null)[]> {
  if (actors.length === 0) return [];
  const idsOf = (kind: string): number[] =>
    actors.flatMap((actor) => (actor?.kind === kind && isRowId(actor.id) ? [Number(actor.id)] : []));
  const names = await single(control, async (tx) => ({
    member: await listMemberNames(tx, { workspaceId, ids: idsOf("member") }),
    token: await listTokenNames(tx, { workspaceId, ids: idsOf("token") }),
    api_key: await listApiKeyNames(tx, { workspaceId, ids: idsOf("api_key") }),
  }));
  return actors.map((actor) => {
    if (actor === null) return null;
    const { kind, id } = actor;
    const known = kind === "member" || kind === "token" || kind === "api_key" ? names[kind] : null;
    return { kind, id, name: known?.get(Number(id)) ?? null };
  });
}

/** Whether the ID is the ID of a database row. The ID of a `command` actor is free text. */
function isRowId(id: string | null): boolean {
  return id !== null && /^[1-9]\d{0,8}$/.test(id);
}
