import { useMutation } from "@tanstack/react-query";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { ConfirmByTyping } from "../../../ui/confirm-by-typing.tsx";
import { Time } from "../../../ui/time.tsx";
import { tell } from "../../../ui/toast.tsx";
import { inEnvironment } from "../../../words/environments.ts";
import { tokensQuery } from "../queries.ts";
import type { Token } from "./token.ts";

export function RevokeTokenDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const { id, name, lastFour, lastUsedAt, environment, managesAccess } = token;
  const revoke = useMutation({
    mutationFn: () => answerOf(api.POST("/manage/v1/tokens/{id}/revoke", { params: { path: { id } } })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey });
      tell(`Revoked ${name}`, `pur_mgmt_…${lastFour}: valid → revoked`);
      onClose();
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={`Revoke ${name}`}
      wanted={name}
      action={environment === null ? "Revoke token" : inEnvironment("Revoke token", environment)}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Whatever uses <code className="font-mono">pur_mgmt_…{lastFour}</code> is refused from its next call
          on, permanently.{" "}
          {lastUsedAt === null ? (
            "It was never used."
          ) : (
            <>
              It was last used <Time at={lastUsedAt} as="ago" />.
            </>
          )}
        </p>
        {managesAccess && <p>Tokens and links that were created with it end too.</p>}
        <ApiCall call={{ method: "POST", path: `/manage/v1/tokens/${id}/revoke` }} />
      </div>
    </ConfirmByTyping>
  );
}
