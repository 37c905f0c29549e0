import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActInProject, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { ApiCall } from "../../ui/code-block.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Reach } from "../plans/plan-parts.tsx";
import { CatalogChanges, CatalogReach } from "./catalog-changes.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CATALOG_ACTIONS, EditProblem } from "./edit-problem.tsx";
import { promotionQuery, refreshCatalog } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/promote");

/** Compares Test with Live, then applies all changes in one transaction. */
export function PromotePage() {
  const scope = useScope();
  const { archive } = route.useSearch();
  const navigate = route.useNavigate();
  const archiveMissing = archive !== undefined;
  // The checkbox changes immediately, before the URL and the comparison change.
  const [box, setBox] = useState({ isChecked: archiveMissing, address: archiveMissing });
  if (box.address !== archiveMissing) setBox({ isChecked: archiveMissing, address: archiveMissing });
  const mayPromote = useMayActInProject("admin");
  const [done, setDone] = useState<Answer<"promoteCatalog"> | null>(null);
  const { data: promotion } = useSuspenseQuery(promotionQuery(scope.projectId, archiveMissing));
  const isPending =
    promotion.kind === "possible" && promotion.diff.changes.some(({ change }) => change !== "unchanged");
  return (
    <Page
      title="Promote Test to Live"
      note="Copies the test catalog to Live. Customers are not copied."
      actions={
        <ButtonLink
          to="/projects/$projectId/$environment/plans"
          params={{ ...scope, environment: "test" }}
          tone="quiet"
        >
          Back to Test
        </ButtonLink>
      }
    >
      {done !== null && <Done done={done} />}
      {promotion.kind === "blocked" ? (
        <Callout tone="bad" title="Cannot promote">
          <p>{promotion.problem.message}</p>
          <p>Nothing was changed. Fix the problem in Test or Live, then refresh.</p>
        </Callout>
      ) : (
        <>
          <Checkbox
            label="Archive items that are not in Test"
            hint="Applies to plans and features. Customers already on an archived plan keep it."
            checked={box.isChecked}
            onChange={({ target: { checked } }) => {
              setBox({ ...box, isChecked: checked });
              void navigate({ search: checked ? { archive: true } : {} });
            }}
          />
          <div
            className={classNames(
              "grid items-start gap-6",
              mayPromote && isPending && "lg:grid-cols-[1fr_22rem]",
            )}
          >
            <div className="flex min-w-0 flex-col gap-6">
              <CatalogChanges changes={promotion.diff.changes} nothing="Live already matches Test." />
            </div>
            {mayPromote && isPending && (
              <div className="min-w-0 lg:sticky lg:top-6">
                <PromotePanel diff={promotion.diff} archiveMissing={archiveMissing} onDone={setDone} />
              </div>
            )}
          </div>
        </>
      )}
    </Page>
  );
}

function Done({ done: { outcome, changes } }: { done: Answer<"promoteCatalog"> }) {
  const scope = useScope();
  const count = changes.filter(({ change }) => change !== "unchanged").length;
  return (
    <Callout tone="good" title="Live now matches Test">
      <p>{outcome === "applied" ? `${countOf(count, "change")} applied.` : "There were no changes."}</p>
      <div className="mt-2">
        <ButtonLink to="/projects/$projectId/$environment/plans" params={scope}>
          Open live plans
        </ButtonLink>
      </div>
    </Callout>
  );
}

/** Selects who gets new plan versions, and asks the user to type "live". */
function PromotePanel({
  diff,
  archiveMissing,
  onDone,
}: {
  diff: CatalogDiff;
  archiveMissing: boolean;
  onDone: (done: Answer<"promoteCatalog">) => void;
}) {
  const { version, changes } = diff;
  const { projectId } = useScope();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const request = {
    params: { path: { projectId } },
    body: { reach, archiveMissing, expectedVersion: version },
  };
  const promote = useWrite("post", "/manage/v1/projects/{projectId}/promote", {
    before: async () => {
      // The API detects changes in Live. Changes in Test must be checked here.
      const again = await queryClient.fetchQuery(promotionQuery(projectId, archiveMissing));
      if (again.kind !== "possible" || JSON.stringify(again.diff) !== JSON.stringify(diff)) throw changed();
    },
    onSuccess: async (done) => {
      setConfirming(false);
      onDone(done);
      notify("Promoted Test to Live", `${count} applied`);
      await refreshCatalog();
    },
    onError: () => setConfirming(false),
  });
  return (
    <Card title="Promote">
      <div className="flex flex-col gap-4">
        <p>Applies {count} in one transaction.</p>
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          write={promote}
          edited={{ actions: CATALOG_ACTIONS, subject: null, environments: ["test", "live"] }}
          read={() => queryClient.fetchQuery(promotionQuery(projectId, archiveMissing))}
          note="Reload to see the current changes."
        />
        <ApiCall call={promote.callOf(request)} />
        <div>
          <Button tone="primary" onClick={() => setConfirming(true)}>
            Promote {count} to Live
          </Button>
        </div>
      </div>
      <WriteDialog
        isOpen={isConfirming}
        title="Promote Test to Live"
        write={promote}
        request={null}
        wanted="live"
        action={`Promote ${count}`}
        preposition="to"
        tone="danger"
        problem={null}
        onSubmit={() => promote.mutate(request)}
        onClose={() => setConfirming(false)}
      >
        This applies {count} to your live catalog in one transaction. You cannot unpublish a plan version.
      </WriteDialog>
    </Card>
  );
}

function changed(): ApiProblem {
  return new ApiProblem({
    status: 412,
    code: "changed_meanwhile",
    title: "Edit conflict",
    detail: "Test or Live has changed since you opened this page.",
    requestId: null,
    errors: [],
  });
}
