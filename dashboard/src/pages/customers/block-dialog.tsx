import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import type { Customer } from "./queries.ts";
import { useCustomerWritten } from "./use-customer-written.ts";

export function BlockDialog({
  customer: { customerId, name, isBlocked: isBlockedNow },
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const place = usePlace();
  const refresh = useCustomerWritten(customerId);
  // As it was when the dialog opened: what a colleague does meanwhile must not turn Block into Unblock under the pointer.
  const [isBlocked] = useState(isBlockedNow);
  const body = { blocked: !isBlocked };
  const who = name ?? customerId;
  const verb = isBlocked ? "Unblock" : "Block";
  const block = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/block", {
          params: { path: { ...place, customerId } },
          body,
        }),
      ),
    onSuccess: async ({ customer }) => {
      tell(
        customer.isBlocked ? `${who} is blocked` : `${who} is no longer blocked`,
        customer.isBlocked
          ? "Every request is denied from now on"
          : "Requests are decided by plan and balance again",
      );
      onClose();
      await refresh();
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`${verb} ${who}`}
      action={inEnvironment(verb, place.environment)}
      isDangerous={!isBlocked}
      work={block}
      call={{ method: "PUT", path: pathIn(place, "customers", customerId, "block"), body }}
    >
      {isBlocked
        ? "From the next request on, plan and balance decide again."
        : "From the next request on everything is denied, with the reason customer_blocked. Plan and credits stay theirs, and periods go on."}
    </ConfirmDialog>
  );
}
