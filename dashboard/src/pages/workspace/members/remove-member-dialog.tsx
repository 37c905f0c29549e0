import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { sessionQuery } from "../../../api/session.ts";
import { useSession } from "../../../frame/use-session.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { Callout } from "../../../ui/callout.tsx";
import { ConfirmByTyping } from "../../../ui/confirm-by-typing.tsx";
import { tell } from "../../../ui/toast.tsx";
import { membersQuery } from "../queries.ts";
import type { Member } from "./member.ts";
import { WhatEnds } from "./what-ends.tsx";

export function RemoveMemberDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const me = useSession();
  const { id, name, email, status } = member;
  const isInvited = status === "invited";
  const [revoked, setRevoked] = useState<readonly string[]>([]);
  const remove = useMutation({
    mutationFn: () => {
      const query = revoked.length === 0 ? {} : { revokeApiKeys: revoked.join(",") };
      return answerOf(api.DELETE("/manage/v1/members/{id}", { params: { path: { id }, query } }));
    },
    onSuccess: async () => {
      tell(isInvited ? `Withdrew the invitation of ${name}` : `Removed ${name}`, email);
      onClose();
      const key = me.id === id ? sessionQuery.queryKey : membersQuery.queryKey;
      await queryClient.invalidateQueries({ queryKey: key });
    },
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title={isInvited ? `Withdraw the invitation of ${name}` : `Remove ${name}`}
      wanted={email}
      action={isInvited ? "Withdraw invitation" : "Remove member"}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    >
      <div className="flex flex-col gap-3">
        {me.id === id && (
          <Callout tone="warn" title="This is you">
            You are signed out at once, and somebody else has to invite you again.
          </Callout>
        )}
        {isInvited ? (
          <p>Their link ends at once. You can invite them again.</p>
        ) : (
          <>
            <WhatEnds memberId={id} revoked={revoked} onRevoke={setRevoked} />
            <p className="text-muted">What they did stays in the audit log.</p>
          </>
        )}
        <ApiCall
          call={{
            method: "DELETE",
            path: `/manage/v1/members/${id}${revoked.length === 0 ? "" : `?revokeApiKeys=${revoked.join(",")}`}`,
          }}
        />
      </div>
    </ConfirmByTyping>
  );
}
