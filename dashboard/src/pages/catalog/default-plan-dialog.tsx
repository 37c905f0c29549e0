import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Select } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { plansQuery, refreshCatalog } from "./queries.ts";
import { WriteDialog } from "./write-dialog.tsx";

/** Which plan customers have whom nobody assigned one. */
export function DefaultPlanDialog({ suggested, onClose }: { suggested?: string; onClose: () => void }) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  const current = plans.find(({ isDefault }) => isDefault) ?? null;
  const [chosen, setChosen] = useState(suggested ?? current?.key ?? "");
  const body = { plan: chosen === "" ? null : chosen };
  const name = plans.find(({ key }) => key === chosen)?.name ?? "none";
  const choose = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/default-plan", {
          params: { path: place },
          body,
        }),
      ),
    onSuccess: async () => {
      await refreshCatalog(queryClient);
      tell(
        "The default plan is chosen",
        `${current?.name ?? "None"} → ${body.plan === null ? "none" : name}.`,
      );
      onClose();
    },
  });
  return (
    <WriteDialog
      title="Default plan"
      action={inEnvironment(
        body.plan === null ? "Have no default plan" : `Make ${name} the default`,
        place.environment,
      )}
      isBusy={choose.isPending}
      problem={<ProblemCallout error={choose.error} />}
      call={{ method: "PUT", path: pathIn(place, "default-plan"), body }}
      onConfirm={() => choose.mutate()}
      onClose={onClose}
    >
      <Select
        label="Default plan"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
        options={[
          { value: "", label: "None" },
          ...plans
            .filter(({ latest, archivedAt }) => latest !== null && archivedAt === null)
            .map((plan) => ({ value: plan.key, label: plan.name })),
        ]}
      />
      <p className="text-muted">
        {body.plan === null
          ? "Customers whom nobody assigned a plan then have none, and are denied. A customer that nobody knows is not created by a consume."
          : "Customers whom nobody assigned a plan have this one, and so has a customer that nobody knew before."}
        {current !== null && current.key !== chosen && ` Who has ${current.name} by default moves at once.`}
      </p>
    </WriteDialog>
  );
}
