import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { outcomeOf } from "../../words/request-outcome.ts";
import type { LoggedRequest } from "./queries.ts";

const TONES = { ok: "good", denied: "bad", refused: "warn", failed: "bad" } as const satisfies Record<
  string,
  BadgeTone
>;

/** Whether it went well, why not, and a way to find out more. */
export function Outcome({ request }: { request: LoggedRequest }) {
  const { kind, name, why } = outcomeOf(request);
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <Badge tone={TONES[kind]}>{name}</Badge>
      {request.isReplay && <Badge>Replay</Badge>}
      {why !== null && (
        <span title={request.code === null ? undefined : `${request.status} ${request.code}`}>{why}</span>
      )}
      <Why request={request} />
      <Define request={request} />
    </span>
  );
}

/** Only what is kept can be explained: a check is not, nor is a denial that may be allowed under the same key. */
function Why({ request: { reason, endpoint, idempotencyKey } }: { request: LoggedRequest }) {
  const place = usePlace();
  if (reason === null || endpoint !== "consume" || idempotencyKey === null) return null;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey/why"
      params={{ ...place, idempotencyKey }}
      preload={false}
    >
      Why?
    </TextLink>
  );
}

/** An unknown feature is a mistake of the caller's, or one that nobody has defined yet. */
function Define({ request: { code, feature } }: { request: LoggedRequest }) {
  const place = usePlace();
  const isAdmin = useMayActAs("admin");
  if (code !== "feature_not_found" || feature === null || !isAdmin) return null;
  return (
    <TextLink to="/projects/$projectId/$environment/features" params={place} search={{ define: feature }}>
      Define it
    </TextLink>
  );
}
