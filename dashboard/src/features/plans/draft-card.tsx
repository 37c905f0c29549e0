import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Tagged } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { EditProblem } from "../catalog/edit-problem.tsx";
import { featuresQuery, type Plan, planQuery, refreshCatalog } from "../catalog/queries.ts";
import { SentenceList, useNames } from "./plan-parts.tsx";
import { type Draft, draftSentences } from "./plan-terms.ts";

/** Draft of the next version and its changes. */
export function DraftCard({ opened, draft }: { opened: Tagged<Plan>; draft: Draft }) {
  const scope = useScope();
  const names = useNames(scope);
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const mayEdit = useMayActAs("admin");
  const [isDiscarding, setDiscarding] = useState(false);
  const { key, versions } = opened.value;
  const [latest = null] = versions;
  const sentences = draftSentences(opened.value, draft, { names, features });
  const params = { ...scope, key };
  return (
    <Card
      title={`Draft of version ${(latest?.number ?? 0) + 1}`}
      note={
        <>
          Saved <Time at={draft.changedAt} as="ago" />. Not published yet.
        </>
      }
      actions={
        mayEdit && (
          <>
            <Button tone="quiet" onClick={() => setDiscarding(true)}>
              Discard
            </Button>
            <ButtonLink to="/projects/$projectId/$environment/plans/$key/edit" params={params}>
              Edit draft
            </ButtonLink>
            <ButtonLink
              to="/projects/$projectId/$environment/plans/$key/publish"
              params={params}
              tone="primary"
            >
              Review and publish
            </ButtonLink>
          </>
        )
      }
    >
      {sentences.length === 0 ? (
        <p className="text-muted">
          {latest === null ? "The draft is empty." : `Same terms as version ${latest.number}.`}
        </p>
      ) : (
        <SentenceList label="Changes in the draft" sentences={sentences} />
      )}
      {isDiscarding && <DiscardDraftDialog opened={opened} onClose={() => setDiscarding(false)} />}
    </Card>
  );
}

function DiscardDraftDialog({ opened: given, onClose }: { opened: Tagged<Plan>; onClose: () => void }) {
  const scope = useScope();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(given);
  const { key, name, versions } = opened.value;
  const isAll = versions.length === 0;
  const discard = useWrite("delete", "/manage/v1/projects/{projectId}/{environment}/plans/{key}/draft", {
    onSuccess: async () => {
      notify("Discarded draft", isAll ? `${name} was deleted` : `${name} is unchanged`);
      onClose();
      if (isAll) await navigate({ to: "/projects/$projectId/$environment/plans", params: scope });
      await refreshCatalog();
    },
  });
  return (
    <WriteDialog
      title="Discard draft"
      action="Discard draft"
      tone="danger"
      write={discard}
      request={{ params: { path: { ...scope, key }, header: { "if-match": opened.etag } } }}
      problem={
        <EditProblem
          write={discard}
          edited={{ actions: ["plan"], subject: key }}
          read={() => queryClient.fetchQuery(planQuery(scope, key))}
          onRead={setOpened}
        />
      }
      onClose={onClose}
    >
      <p>
        This cannot be undone.{" "}
        {isAll
          ? `${name} has never been published, so the plan will also be deleted.`
          : `Published versions of ${name} are kept.`}
      </p>
    </WriteDialog>
  );
}

export function ArchivePlanDialog({ opened: given, onClose }: { opened: Tagged<Plan>; onClose: () => void }) {
  const scope = useScope();
  const [opened, setOpened] = useState(given);
  const { key, name, archivedAt } = opened.value;
  const body = { archived: archivedAt === null };
  const archive = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/plans/{key}/archive", {
    onSuccess: async () => {
      await refreshCatalog();
      notify(body.archived ? `Archived ${name}` : `Restored ${name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={body.archived ? `Archive ${name}` : `Restore ${name}`}
      action={body.archived ? "Archive plan" : "Restore plan"}
      tone={body.archived ? "danger" : "primary"}
      write={archive}
      request={{ params: { path: { ...scope, key }, header: { "if-match": opened.etag } }, body }}
      problem={
        <EditProblem
          write={archive}
          edited={{ actions: ["plan"], subject: key }}
          read={() => queryClient.fetchQuery(planQuery(scope, key))}
          onRead={setOpened}
        />
      }
      onClose={onClose}
    >
      <p>
        {body.archived
          ? "The plan can no longer be assigned. Customers on this plan keep it. You can restore the plan later."
          : "The plan can be assigned to customers again."}
      </p>
    </WriteDialog>
  );
}
