import type { Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";

export type Whose = Place & { readonly customerId: string };

export type Audit = Item<"listEnvironmentAudit">;
export type Actor = Audit["actor"];

/** Far more than people do within one page of anything. */
const PAGES_MAX = 5;

/**
 * What was audited at these moments and between them, of actions that begin with this: an audit has the very time of what it
 * is about.
 */
export async function readAudit(
  { projectId, environment, customerId }: Whose,
  { times, action }: { times: readonly string[]; action?: string },
): Promise<Audit[]> {
  const millis = times.map((time) => Date.parse(time));
  if (millis.length === 0) return [];
  const from = new Date(Math.min(...millis)).toISOString();
  const to = new Date(Math.max(...millis) + 1).toISOString();
  const found: Audit[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, nextCursor }: { items: Audit[]; nextCursor: string | null } = await answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/audit", {
        params: {
          path: { projectId, environment },
          query: {
            customerId,
            from,
            to,
            limit: "200",
            ...(action === undefined ? {} : { action }),
            ...(cursor === null ? {} : { cursor }),
          },
        },
      }),
    );
    found.push(...items);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return found;
}

/** Who did it, if somebody did: much comes by itself, as a new period does. */
export function findActor(
  audits: readonly Audit[],
  done: { at: string; action: string; subject?: string },
): Actor | null {
  const audit = audits.find(
    ({ recordedAt, action, subject }) =>
      recordedAt === done.at &&
      action.startsWith(done.action) &&
      (done.subject === undefined || subject === done.subject),
  );
  return audit?.actor ?? null;
}
