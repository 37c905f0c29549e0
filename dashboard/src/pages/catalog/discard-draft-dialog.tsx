import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import type { Tagged } from "../../api/tagged.ts";
import { usePlace } from "../../frame/use-place.ts";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { EditProblem } from "./edit-problem.tsx";
import { type Plan, planQuery, refreshCatalog } from "./queries.ts";
import { WriteDialog } from "./write-dialog.tsx";

export function DiscardDraftDialog({
  opened: given,
  onClose,
}: {
  opened: Tagged<Plan>;
  onClose: () => void;
}) {
  const place = usePlace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [opened, setOpened] = useState(given);
  const { key, name, versions } = opened.value;
  const isAll = versions.length === 0;
  const headers = { "if-match": opened.etag };
  const discard = useMutation({
    mutationFn: () =>
      answerOf(
        api.DELETE("/manage/v1/projects/{projectId}/{environment}/plans/{key}/draft", {
          params: { path: { ...place, key }, header: headers },
        }),
      ),
    onSuccess: async () => {
      tell("The draft is discarded", isAll ? `${name} is gone with it.` : `${name} stays as it is.`);
      onClose();
      if (isAll) await navigate({ to: "/projects/$projectId/$environment/plans", params: place });
      await refreshCatalog(queryClient);
    },
  });
  const readAgain = useMutation({
    mutationFn: () => queryClient.fetchQuery(planQuery(place, key)),
    onSuccess: (read) => {
      discard.reset();
      setOpened(read);
    },
  });
  return (
    <WriteDialog
      title="Discard the draft"
      action={inEnvironment("Discard draft", place.environment)}
      tone="danger"
      isBusy={discard.isPending}
      problem={
        <EditProblem
          error={discard.error ?? readAgain.error}
          edited={{ actions: ["plan"], subject: key }}
          note="Read it again, then decide again."
          isReading={readAgain.isPending}
          onReadAgain={() => readAgain.mutate()}
        />
      }
      call={{ method: "DELETE", path: pathIn(place, "plans", key, "draft"), headers }}
      onConfirm={() => discard.mutate()}
      onClose={onClose}
    >
      <p>
        What was worked on is gone, and cannot be brought back.{" "}
        {isAll
          ? `${name} was never published, so nothing of it remains.`
          : `${name} goes on as it is, and so does everybody on it.`}
      </p>
    </WriteDialog>
  );
}
