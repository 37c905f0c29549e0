import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { countOf } from "../../words/numbers.ts";
import type { CatalogGiven } from "./apply-catalog.tsx";
import type { CatalogDiff } from "./catalog-content.ts";
import { CatalogReach } from "./catalog-reach.tsx";
import { EditProblem } from "./edit-problem.tsx";
import { CATALOG_ACTIONS } from "./last-change.ts";
import { refreshCatalog } from "./queries.ts";
import type { Reach } from "./reaches.ts";

export function ApplyPanel({
  given,
  diff: { version, changes },
  isReading,
  onReadAgain,
  onDone,
}: {
  given: CatalogGiven;
  diff: CatalogDiff;
  isReading: boolean;
  onReadAgain: () => void;
  onDone: () => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const [reach, setReach] = useState<Reach>("new_assignments");
  const [isConfirming, setConfirming] = useState(false);
  const count = countOf(changes.filter(({ change }) => change !== "unchanged").length, "change");
  const body = { ...given, reach, expectedVersion: version };
  const apply = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/catalog/apply", {
          params: { path: place },
          body,
        }),
      ),
    onSuccess: async () => {
      tell("The file is applied", `${count} made in ${place.environment === "live" ? "LIVE" : "test"}.`);
      onDone();
      await refreshCatalog(queryClient);
    },
    onError: () => setConfirming(false),
  });
  const action = inEnvironment(`Apply ${count}`, place.environment);
  return (
    <Card title="Apply">
      <div className="flex flex-col gap-4">
        <CatalogReach changes={changes} value={reach} onChange={setReach} />
        <EditProblem
          error={apply.error}
          edited={{ actions: CATALOG_ACTIONS, subject: null }}
          note="Comparing again shows what the file would do now."
          isReading={isReading}
          onReadAgain={onReadAgain}
        />
        <ApiCall call={{ method: "POST", path: pathIn(place, "catalog", "apply"), body }} />
        <div>
          <Button
            tone="primary"
            isBusy={apply.isPending}
            onClick={() => (place.environment === "live" ? setConfirming(true) : apply.mutate())}
          >
            {action}
          </Button>
        </div>
      </div>
      <ConfirmByTyping
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Apply a file to LIVE"
        wanted="LIVE"
        action={action}
        isBusy={apply.isPending}
        error={null}
        onConfirm={() => apply.mutate()}
      >
        {count} of what your real customers are sold, all in one step.
      </ConfirmByTyping>
    </Card>
  );
}
