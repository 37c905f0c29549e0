import { useMutation } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import type { ApiKey } from "./queries.ts";

export function RevokeKeyDialog({
  apiKey: { id, name, lastFour, lastUsedAt },
  onClose,
}: {
  apiKey: ApiKey;
  onClose: () => void;
}) {
  const place = usePlace();
  const shown = `pur_${place.environment}_…${lastFour}`;
  const revoke = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/api-keys/{id}/revoke", {
          params: { path: { ...place, id } },
        }),
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["api-keys", place] });
      tell(`Revoked ${name}`, `${shown}: working → revoked`);
      onClose();
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={`Revoke ${name}`}
      wanted={name}
      action={inEnvironment("Revoke key", place.environment)}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Whatever calls with <code className="font-mono">{shown}</code> is refused within 5 seconds, for
          ever.{" "}
          {lastUsedAt === null ? (
            "It was never used."
          ) : (
            <>
              It was last used <Time at={lastUsedAt} as="ago" />.
            </>
          )}{" "}
          To change over without a gap, rotate it instead.
        </p>
        <ApiCall
          call={{
            method: "POST",
            path: `/manage/v1/projects/${place.projectId}/${place.environment}/api-keys/${id}/revoke`,
          }}
        />
      </div>
    </ConfirmByTyping>
  );
}
