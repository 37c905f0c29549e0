import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { tell } from "../../ui/toast.tsx";
import { countOf } from "../../words/numbers.ts";
import type { CatalogDiff } from "./catalog-content.ts";
import { CatalogReach } from "./catalog-reach.tsx";
import { EditProblem } from "./edit-problem.tsx";
import { CATALOG_ACTIONS } from "./last-change.ts";
import { promotionQuery, refreshCatalog } from "./queries.ts";
import type { Reach } from "./reaches.ts";

/** Who gets the new versions, and the word that has to be typed before live changes. */
export function PromotePanel({
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
  const queryClient = useQueryClient();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const body = { reach, archiveMissing, expectedVersion: version };
  const promote = useMutation({
    mutationFn: async () => {
      // The API makes sure that live is as it was looked at. That test is, too, is for us to ask.
      const again = await queryClient.fetchQuery(promotionQuery(projectId, archiveMissing));
      if (again.kind !== "possible" || JSON.stringify(again.diff) !== JSON.stringify(diff)) throw changed();
      return answerOf(
        api.POST("/manage/v1/projects/{projectId}/promote", { params: { path: { projectId } }, body }),
      );
    },
    onSuccess: async (done) => {
      setConfirming(false);
      onDone(done);
      tell("Test is promoted to LIVE", `${count} made.`);
      await refreshCatalog(queryClient);
    },
    onError: () => setConfirming(false),
  });
  const readAgain = useMutation({
    mutationFn: () => queryClient.fetchQuery(promotionQuery(projectId, archiveMissing)),
    onSuccess: () => promote.reset(),
  });
  return (
    <Card title="Promote">
      <div className="flex flex-col gap-4">
        <p>{count} of what live sells, all in one step or none at all.</p>
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          error={promote.error ?? readAgain.error}
          edited={{ actions: CATALOG_ACTIONS, subject: null, environments: ["test", "live"] }}
          note="Reading again shows what promoting would do now."
          isReading={readAgain.isPending}
          onReadAgain={() => readAgain.mutate()}
        />
        <ApiCall call={{ method: "POST", path: `/manage/v1/projects/${projectId}/promote`, body }} />
        <div>
          <Button tone="primary" onClick={() => setConfirming(true)}>
            Promote {count} to LIVE
          </Button>
        </div>
      </div>
      <ConfirmByTyping
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Promote test to LIVE"
        wanted="LIVE"
        action={`Make ${count} in LIVE`}
        isBusy={promote.isPending}
        error={null}
        onConfirm={() => promote.mutate()}
      >
        {count} of what your real customers are sold, all in one step. A published version cannot be taken
        back; another one can be published after it.
      </ConfirmByTyping>
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
