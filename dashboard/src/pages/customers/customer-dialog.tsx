import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { CustomerForm } from "./customer-form.tsx";
import { type Customer, customerQuery } from "./queries.ts";
import type { CustomerBody } from "./read-customer-form.ts";
import { refuseOverwriting } from "./refuse-overwriting.ts";
import { useCustomerWritten } from "./use-customer-written.ts";

/** Makes a customer, or changes what is known about one. */
export function CustomerDialog({
  customer,
  isOpen,
  onClose,
  onSaved,
}: {
  /** Null: a new one. */
  customer: Customer | null;
  isOpen: boolean;
  onClose: () => void;
  onSaved: (customer: Answer<"putCustomer">) => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={customer === null ? "New customer" : `Edit ${customer.name ?? customer.customerId}`}
      note={
        customer === null
          ? "A customer who sends usage needs none of this: it appears by itself. All but the id may stay empty."
          : undefined
      }
    >
      <Saving customer={customer} onClose={onClose} onSaved={onSaved} />
    </Dialog>
  );
}

function Saving({
  customer,
  onClose,
  onSaved,
}: {
  customer: Customer | null;
  onClose: () => void;
  onSaved: (customer: Answer<"putCustomer">) => void;
}) {
  const place = usePlace();
  const queryClient = useQueryClient();
  const refresh = useCustomerWritten(customer?.customerId ?? "");
  // What the form began with.
  const [opened] = useState(customer);
  const save = useMutation({
    mutationFn: async ({ customerId, body }: { customerId: string; body: CustomerBody }) => {
      refuseOverwriting(opened, await findCustomer(customerId));
      return answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
          params: { path: { ...place, customerId } },
          body,
        }),
      );
    },
    onSuccess: async (saved) => {
      onSaved(saved);
      await refresh();
    },
  });

  function findCustomer(customerId: string): Promise<Customer | null> {
    return queryClient
      .fetchQuery({ ...customerQuery(place, customerId), staleTime: 0 })
      .catch((error: unknown) => {
        if (error instanceof ApiProblem && error.status === 404) return null;
        throw error;
      });
  }

  return <CustomerForm customer={customer} save={save} onClose={onClose} />;
}
