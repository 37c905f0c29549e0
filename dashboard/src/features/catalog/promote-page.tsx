import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { queryClient } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { ApiCall } from "../../ui/code-block.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import type { Reach } from "../plans/reach-choice.tsx";
import { CatalogChanges, CatalogReach } from "./catalog-changes.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CATALOG_ACTIONS, EditProblem } from "./edit-problem.tsx";
import { promotionQuery, refreshCatalog } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/promote");

/** From what was tried to what is sold: looked at first, then done in one step. */
export function PromotePage() {
  const place = usePlace();
  const { archive } = route.useSearch();
  const navigate = route.useNavigate();
  const archiveMissing = archive !== undefined;
  // The box answers at once; the address, and with it the comparison, follow.
  const [box, setBox] = useState({ isChecked: archiveMissing, address: archiveMissing });
  if (box.address !== archiveMissing) setBox({ isChecked: archiveMissing, address: archiveMissing });
  const mayPromote = useMayActAs("admin");
  const [done, setDone] = useState<Answer<"promoteCatalog"> | null>(null);
  const { data: promotion } = useSuspenseQuery(promotionQuery(place.projectId, archiveMissing));
  const isPending =
    promotion.kind === "possible" && promotion.diff.changes.some(({ change }) => change !== "unchanged");
  return (
    <Page
      title="Promote test to live"
      note="Live gets the pools, features, plans and event keys of test. Customers, balances and drafts never cross."
      actions={
        <ButtonLink
          to="/projects/$projectId/$environment/plans"
          params={{ ...place, environment: "test" }}
          tone="quiet"
        >
          Back to test
        </ButtonLink>
      }
    >
      {done !== null && <Done done={done} />}
      {promotion.kind === "blocked" ? (
        <Callout tone="bad" title="It cannot be promoted as it is">
          <p>{promotion.problem.message}</p>
          <p>Nothing was changed. Mend it in test or live, then look again.</p>
        </Callout>
      ) : (
        <>
          <Checkbox
            label="Also archive what test lacks"
            hint="Plans and features of live that test does not have are then no longer offered. Who is on them keeps them."
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
              <CatalogChanges
                changes={promotion.diff.changes}
                nothing="Live has all that test has, as test has it."
              />
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
  const place = usePlace();
  const count = changes.filter(({ change }) => change !== "unchanged").length;
  return (
    <Callout tone="good" title="Live sells what test sells">
      <p>
        {outcome === "applied"
          ? `${countOf(count, "change")} made, all in one step.`
          : "There was nothing to do."}
      </p>
      <div className="mt-2">
        <ButtonLink to="/projects/$projectId/$environment/plans" params={place}>
          Look at live's plans
        </ButtonLink>
      </div>
    </Callout>
  );
}

/** Who gets the new versions, and the word that has to be typed before live changes. */
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
  const { projectId } = usePlace();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const request = {
    params: { path: { projectId } },
    body: { reach, archiveMissing, expectedVersion: version },
  };
  const promote = useWrite("post", "/manage/v1/projects/{projectId}/promote", {
    before: async () => {
      // The API makes sure that live is as it was looked at. That test is, too, is for us to ask.
      const again = await queryClient.fetchQuery(promotionQuery(projectId, archiveMissing));
      if (again.kind !== "possible" || JSON.stringify(again.diff) !== JSON.stringify(diff)) throw changed();
    },
    onSuccess: async (done) => {
      setConfirming(false);
      onDone(done);
      tell("Test is promoted to LIVE", `${count} made.`);
      await refreshCatalog();
    },
    onError: () => setConfirming(false),
  });
  return (
    <Card title="Promote">
      <div className="flex flex-col gap-4">
        <p>{count} of what live sells, all in one step or none at all.</p>
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          write={promote}
          edited={{ actions: CATALOG_ACTIONS, subject: null, environments: ["test", "live"] }}
          read={() => queryClient.fetchQuery(promotionQuery(projectId, archiveMissing))}
          note="Reading again shows what promoting would do now."
        />
        <ApiCall call={promote.callOf(request)} />
        <div>
          <Button tone="primary" onClick={() => setConfirming(true)}>
            Promote {count} to LIVE
          </Button>
        </div>
      </div>
      <WriteDialog
        isOpen={isConfirming}
        title="Promote test to LIVE"
        write={promote}
        request={null}
        wanted="LIVE"
        action={`Make ${count}`}
        tone="danger"
        problem={null}
        onSubmit={() => promote.mutate(request)}
        onClose={() => setConfirming(false)}
      >
        {count} of what your real customers are sold, all in one step. A published version cannot be taken
        back; another one can be published after it.
      </WriteDialog>
    </Card>
  );
}

function changed(): ApiProblem {
  return new ApiProblem({
    status: 412,
    code: "changed_meanwhile",
    title: "Somebody changed it since you read it",
    detail: "Test or live was changed since you looked.",
    requestId: null,
    errors: [],
  });
}
