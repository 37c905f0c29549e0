import { useMutation, useQuery } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useId } from "react";
import { useForm } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { featureKeysQuery } from "./queries.ts";
import { TryResult } from "./try-result.tsx";
import { freshKey, type TryValues, toTryBody } from "./try-values.ts";

/** What the form begins with; a key that was used shows its replays. */
export type TryStart = Partial<Pick<TryValues, "customerId" | "feature" | "quantity" | "idempotencyKey">>;

const ENDPOINTS = [
  { value: "consume", label: "consume" },
  { value: "check", label: "check" },
];

export function TryForm({ start, onClose }: { start: TryStart; onClose: () => void }) {
  const place = usePlace();
  const listId = useId();
  const { data: features = [] } = useQuery(featureKeysQuery(place));
  const { register, handleSubmit, watch, setValue } = useForm<TryValues>({
    defaultValues: {
      endpoint: "consume",
      customerId: start.customerId ?? "",
      feature: start.feature ?? "",
      quantity: start.quantity ?? "1",
      idempotencyKey: start.idempotencyKey ?? freshKey(),
      times: "32",
    },
  });
  const values = watch();
  const send = useMutation({
    mutationFn: async (wanted: TryValues) => {
      const body = toTryBody(wanted);
      const answer = await answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/tries", { params: { path: place }, body }),
      );
      return { ...answer, tried: body };
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["customer", place] }),
  });
  const wrong = (field: keyof TryValues): string | undefined =>
    send.error instanceof ApiProblem
      ? send.error.errors.find((error) => error.field === field)?.message
      : undefined;
  return (
    <form className="flex flex-col gap-4" onSubmit={handleSubmit((wanted) => send.mutate(wanted))}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Customer"
          required
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          error={wrong("customerId")}
          {...register("customerId")}
        />
        <div>
          <TextField
            label="Feature"
            required
            maxLength={120}
            list={listId}
            autoComplete="off"
            spellCheck={false}
            error={wrong("feature")}
            {...register("feature")}
          />
          <datalist id={listId}>
            {features.map((key) => (
              <option key={key} value={key} />
            ))}
          </datalist>
        </div>
        <div className="flex items-start gap-1">
          <div className="flex-1">
            <TextField
              label="Idempotency key"
              required
              maxLength={255}
              isMono
              autoComplete="off"
              spellCheck={false}
              error={wrong("idempotencyKey")}
              {...register("idempotencyKey")}
            />
          </div>
          <div className="pt-6">
            <IconButton
              icon={RefreshCw}
              label="A new key"
              onClick={() => setValue("idempotencyKey", freshKey())}
            />
          </div>
        </div>
        <div className="grid grid-cols-[1.4fr_1fr_1fr] gap-3">
          <Select label="Call" options={ENDPOINTS} {...register("endpoint")} />
          <TextField
            label="Quantity"
            required
            inputMode="numeric"
            error={wrong("quantity")}
            {...register("quantity")}
          />
          <TextField
            label="Times"
            required
            inputMode="numeric"
            error={wrong("times")}
            {...register("times")}
          />
        </div>
      </div>
      <ProblemCallout error={send.error} />
      {send.data !== undefined && <TryResult result={send.data} />}
      <ApiCall
        call={{
          method: "POST",
          path: `/manage/v1/projects/${place.projectId}/${place.environment}/tries`,
          body: toTryBody(values),
        }}
      />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" tone="primary" isBusy={send.isPending}>
          {inEnvironment(`Send ${values.times} times`, place.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}
