import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { type Customer, customerKey } from "./queries.ts";

export function EraseDialog({
  customer: { customerId, name },
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const place = usePlace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const erase = useMutation({
    mutationFn: () =>
      answerOf(
        api.DELETE("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
          params: { path: { ...place, customerId } },
        }),
      ),
    onSuccess: async () => {
      onClose();
      await queryClient.invalidateQueries({ queryKey: ["customers", place] });
      // Away from the page first: there is nothing left that it could ask for.
      await navigate({ to: "/projects/$projectId/$environment/customers", params: place });
      queryClient.removeQueries({ queryKey: customerKey(place, customerId) });
      tell("The customer is erased", "Amounts stay, under a number that leads to nobody");
    },
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title={`Erase ${name ?? customerId} for ever`}
      wanted={customerId}
      action={inEnvironment("Erase for ever", place.environment)}
      isBusy={erase.isPending}
      error={erase.error}
      onConfirm={() => erase.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Gone for good: the id, name, email, billing reference and metadata, the metadata of everything they
          did, notes and references of their credits, and the text of their idempotency keys.
        </p>
        <p>
          Amounts stay in the ledger, under a number that leads to nobody, so that sums still hold. Until it
          is done the customer is blocked; with very many events it takes minutes.
        </p>
        <ApiCall call={{ method: "DELETE", path: pathIn(place, "customers", customerId) }} />
      </div>
    </ConfirmByTyping>
  );
}
