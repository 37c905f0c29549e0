import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import type { Environment, Item, Place } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import type { Session } from "../../api/session.ts";
import { usePlace, useSession } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { Time } from "../../ui/time.tsx";

/** What went wrong; and where somebody else was first, who it was and the way on. */
export function EditProblem<T>({
  write,
  edited,
  read,
  onRead,
  note = "Read it again, then decide again.",
}: {
  write: { readonly error: unknown; readonly reset: () => void };
  edited: Edited;
  /** Asks for what it is now. */
  read: () => Promise<T>;
  onRead?: (read: T) => void;
  /** What reading again does with what was typed. */
  note?: string;
}) {
  const readAgain = useMutation({
    mutationFn: read,
    onSuccess: (now) => {
      onRead?.(now);
      write.reset();
    },
  });
  const error = write.error ?? readAgain.error;
  if (!(error instanceof ApiProblem && error.status === 412)) return <ProblemCallout error={error} />;
  return (
    <Callout tone="bad" title="Somebody else was first">
      <p>
        <WhoWasFirst edited={edited} /> Nothing of yours was written. {note}
      </p>
      <div className="mt-2">
        <Button icon={RotateCw} isBusy={readAgain.isPending} onClick={() => readAgain.mutate()}>
          Read again
        </Button>
      </div>
    </Callout>
  );
}

function WhoWasFirst({ edited }: { edited: Edited }) {
  const { data: change } = useQuery(lastChangeQuery(usePlace(), edited));
  const me = useSession();
  if (change === undefined || change === null) return "It was changed since you opened it.";
  return (
    <>
      It was changed <Time at={change.recordedAt} as="ago" /> by <strong>{nameActor(change, me)}</strong>.
    </>
  );
}

type Change = Item<"listEnvironmentAudit">;

/** What an edit ran into: an action's beginning ("feature."), and what it was done to; null: to anything. */
type Edited = {
  readonly actions: readonly string[];
  readonly subject: string | null;
  /** Where to look, if not only here. */
  readonly environments?: readonly Environment[];
};

/** Whatever changes what an environment sells. */
export const CATALOG_ACTIONS = ["plan.", "feature.", "pool.", "event_key.", "default_plan."] as const;

const AUDIT_PATH = "/manage/v1/projects/{projectId}/{environment}/audit";

/** The last thing that was done to it, and by whom. */
function lastChangeQuery(place: Place, { actions, subject, environments }: Edited) {
  const places = (environments ?? [place.environment]).map((environment) => ({ ...place, environment }));
  return queryOptions({
    queryKey: ["get", AUDIT_PATH, places, actions, subject],
    queryFn: async (): Promise<Change | null> => {
      const pages = await Promise.all(
        places.flatMap((path) =>
          actions.map((action) =>
            answerOf(api.GET(AUDIT_PATH, { params: { path, query: { action, limit: "50" } } })),
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
function nameActor({ actor: { kind, id, name } }: Change, me: Session): string {
  if (kind === me.kind && id === me.id) return "you, elsewhere";
  if (kind === "member") return name ?? "a member";
  if (kind === "token") return `the token ${name ?? ""}`.trim();
  return kind === "command" ? "a command on the server" : "Purser itself";
}
