import { queryOptions } from "@tanstack/react-query";
import type { Environment, Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import type { Session } from "../../api/session.ts";

type Change = Item<"listEnvironmentAudit">;

/** What an edit ran into: an action's beginning ("feature."), and what it was done to; null: to anything. */
export type Edited = {
  readonly actions: readonly string[];
  readonly subject: string | null;
  /** Where to look, if not only here. */
  readonly environments?: readonly Environment[];
};

/** Whatever changes what an environment sells. */
export const CATALOG_ACTIONS = ["plan.", "feature.", "pool.", "event_key.", "default_plan."] as const;

/** The last thing that was done to it, and by whom. */
export function lastChangeQuery(place: Place, { actions, subject, environments }: Edited) {
  const places = (environments ?? [place.environment]).map((environment) => ({ ...place, environment }));
  return queryOptions({
    queryKey: ["catalog", places, "last-change", actions, subject],
    queryFn: async (): Promise<Change | null> => {
      const pages = await Promise.all(
        places.flatMap((path) =>
          actions.map((action) =>
            answerOf(
              api.GET("/manage/v1/projects/{projectId}/{environment}/audit", {
                params: { path, query: { action, limit: "50" } },
              }),
            ),
          ),
        ),
      );
      const changes = pages
        .flatMap(({ items }) => items)
        .filter((change) => subject === null || change.subject === subject);
      return changes.sort((a, b) => b.recordedAt.localeCompare(a.recordedAt))[0] ?? null;
    },
    staleTime: 0,
  });
}

/** "Bob", "you, in another window", "the token Deploys". */
export function nameActor({ actor: { kind, id, name } }: Change, me: Session): string {
  if (kind === me.kind && id === me.id) return "you, elsewhere";
  if (kind === "member") return name ?? "a member";
  if (kind === "token") return `the token ${name ?? ""}`.trim();
  return kind === "command" ? "a command on the server" : "Purser itself";
}
