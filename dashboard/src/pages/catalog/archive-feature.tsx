import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import type { Tagged } from "../../api/tagged.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { EditProblem } from "./edit-problem.tsx";
import { PlanNames } from "./plan-names.tsx";
import { type Feature, featureQuery, refreshCatalog } from "./queries.ts";

export function ArchiveFeature({
  opened: { value: feature, etag },
  onReadAgain,
  onBack,
  onClose,
}: {
  opened: Tagged<Feature>;
  onReadAgain: (read: Tagged<Feature>) => void;
  onBack: () => void;
  onClose: () => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const { key, name, usedBy } = feature;
  const body = { archived: feature.archivedAt === null };
  const headers = { "if-match": etag };
  const archive = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/features/{key}/archive", {
          params: { path: { ...place, key }, header: headers },
          body,
        }),
      ),
    onSuccess: async () => {
      await refreshCatalog(queryClient);
      tell(body.archived ? `${name} is archived` : `${name} is offered again`);
      onClose();
    },
  });
  const readAgain = useMutation({
    mutationFn: () => queryClient.fetchQuery(featureQuery(place, key)),
    onSuccess: (read) => {
      archive.reset();
      onReadAgain(read);
    },
  });
  return (
    <>
      {body.archived ? (
        <p>
          It can then be put into no further plan.{" "}
          {usedBy.length === 0 ? (
            "No plan includes it now."
          ) : (
            <>
              <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "keeps" : "keep"} it, and so does everybody
              on {usedBy.length === 1 ? "it" : "them"}, until a version without it is published.
            </>
          )}{" "}
          You can offer it again at any time.
        </p>
      ) : (
        <p>
          It can then be put into plans again. Nobody gets it before a plan that includes it is published.
        </p>
      )}
      <EditProblem
        error={archive.error ?? readAgain.error}
        edited={{ actions: ["feature."], subject: key }}
        note="Read it again, then decide again."
        isReading={readAgain.isPending}
        onReadAgain={() => readAgain.mutate()}
      />
      <ApiCall call={{ method: "POST", path: pathIn(place, "features", key, "archive"), headers, body }} />
      <DialogActions>
        <Button onClick={onBack}>Back</Button>
        <Button
          tone={body.archived ? "danger" : "primary"}
          isBusy={archive.isPending}
          onClick={() => archive.mutate()}
        >
          {inEnvironment(body.archived ? "Archive feature" : "Offer feature again", place.environment)}
        </Button>
      </DialogActions>
    </>
  );
}
