import { useMutation, useQueryClient } from "@tanstack/react-query";
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

export function ArchivePlanDialog({ opened: given, onClose }: { opened: Tagged<Plan>; onClose: () => void }) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const [opened, setOpened] = useState(given);
  const { key, name, archivedAt } = opened.value;
  const body = { archived: archivedAt === null };
  const headers = { "if-match": opened.etag };
  const archive = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/plans/{key}/archive", {
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
    mutationFn: () => queryClient.fetchQuery(planQuery(place, key)),
    onSuccess: (read) => {
      archive.reset();
      setOpened(read);
    },
  });
  return (
    <WriteDialog
      title={body.archived ? `Archive ${name}` : `Offer ${name} again`}
      action={inEnvironment(body.archived ? "Archive plan" : "Offer plan again", place.environment)}
      tone={body.archived ? "danger" : "primary"}
      isBusy={archive.isPending}
      problem={
        <EditProblem
          error={archive.error ?? readAgain.error}
          edited={{ actions: ["plan"], subject: key }}
          note="Read it again, then decide again."
          isReading={readAgain.isPending}
          onReadAgain={() => readAgain.mutate()}
        />
      }
      call={{ method: "POST", path: pathIn(place, "plans", key, "archive"), headers, body }}
      onConfirm={() => archive.mutate()}
      onClose={onClose}
    >
      <p>
        {body.archived
          ? "Nobody else can be assigned it. Customers who are on it keep it, and can be renewed. You can offer it again at any time."
          : "It can then be assigned to customers again."}
      </p>
    </WriteDialog>
  );
}
