import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import type { Environment, Item, Scope } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import type { Session } from "../../api/session.ts";
import { useScope, useSession } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { Time } from "../../ui/time.tsx";

/** The error from an edit. On an edit conflict, names the other author and offers to reload. */
export function EditProblem<T>({
  write,
  edited,
  read,
  onRead,
  note = "Reload to see the current version.",
}: {
  write: { readonly error: unknown; readonly reset: () => void };
  edited: Edited;
  /** Reads the current version. */
  read: () => Promise<T>;
  onRead?: (read: T) => void;
  /** Explains the effect of reloading on unsaved input. */
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
    <Callout tone="bad" title="Edit conflict">
      <p>
        <ConflictingChange edited={edited} /> Your change was not saved. {note}
      </p>
      <div className="mt-2">
        <Button icon={RotateCw} isBusy={readAgain.isPending} onClick={() => readAgain.mutate()}>
          Reload
        </Button>
      </div>
    </Callout>
  );
}

function ConflictingChange({ edited }: { edited: Edited }) {
  const { data: change } = useQuery(lastChangeQuery(useScope(), edited));
  const me = useSession();
  if (change === undefined || change === null) return "This item has changed since you opened it.";
  return (
    <>
      This item was changed <Time at={change.recordedAt} as="ago" /> by{" "}
      <strong>{nameActor(change, me)}</strong>.
    </>
  );
}

type Change = Item<"listEnvironmentAudit">;

/** Selects the conflicting change by the prefix of its action ("feature.") and its subject. A null subject matches every subject. */
type Edited = {
  readonly actions: readonly string[];
  readonly subject: string | null;
  /** Defaults to the current environment. */
  readonly environments?: readonly Environment[];
};

/** Actions that change the catalog. */
export const CATALOG_ACTIONS = ["plan.", "feature.", "pool.", "event_key.", "default_plan."] as const;

const AUDIT_PATH = "/manage/v1/projects/{projectId}/{environment}/audit";

/** Latest matching audit entry. */
function lastChangeQuery(scope: Scope, { actions, subject, environments }: Edited) {
  const scopes = (environments ?? [scope.environment]).map((environment) => ({ ...scope, environment }));
  return queryOptions({
    queryKey: ["get", AUDIT_PATH, scopes, actions, subject],
    queryFn: async (): Promise<Change | null> => {
      const pages = await Promise.all(
        scopes.flatMap((path) =>
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

/** Author of a change: "Bob", "you, in another window", "token Deploys". */
function nameActor({ actor: { kind, id, name } }: Change, me: Session): string {
  if (kind === me.kind && id === me.id) return "you, in another window";
  if (kind === "member") return name ?? "a member";
  if (kind === "token") return `token ${name ?? ""}`.trim();
  return kind === "command" ? "a server command" : "Purser";
}
