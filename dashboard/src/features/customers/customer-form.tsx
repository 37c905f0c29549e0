import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Answer, Body } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { useScope } from "../../frame/use-scope.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { assertNoConflict } from "./edit-conflict.ts";
import { type Customer, type CustomerScope, customerScopeOf } from "./queries.ts";

type Props = {
  /** Null for a new customer. */
  customer: Customer | null;
  onClose: () => void;
  onSaved: (customer: Answer<"putCustomer">) => void;
};

/** Creates or edits a customer. */
export function CustomerDialog({ customer, onClose, onSaved }: Props) {
  const scope = useScope();
  // The version that the form was opened with, to detect conflicts.
  const [opened] = useState(customer);
  const { register, control, handleSubmit, formState } = useForm<CustomerFormValues>({
    defaultValues: {
      customerId: customer?.customerId ?? "",
      name: customer?.name ?? "",
      email: customer?.email ?? "",
      billingReference: customer?.billingReference ?? "",
      metadata:
        customer === null || customer.metadata === null ? "" : JSON.stringify(customer.metadata, null, 2),
    },
  });
  const form = useWatch({ control, compute: (values: CustomerFormValues) => values });
  const body = readCustomerForm(form);
  // Trimmed, because a pasted space would create a different customer.
  const customerId = customer?.customerId ?? form.customerId.trim();
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    before: async () => assertNoConflict(opened, await findCustomer({ ...scope, customerId })),
    onSuccess: async (saved) => {
      onSaved(saved);
      await refresh("customers");
    },
  });
  const request = body === null ? null : { params: { path: { ...scope, customerId } }, body };
  return (
    <WriteDialog
      title={customer === null ? "Create customer" : `Edit ${customer.name ?? customer.customerId}`}
      note={
        customer === null
          ? "Optional: recording events, assigning plans and adding credits also create customers."
          : undefined
      }
      write={save}
      request={customerId === "" ? null : request}
      action={customer === null ? "Create customer" : "Save"}
      isBusy={formState.isSubmitting || save.isPending}
      onSubmit={handleSubmit(async () => {
        if (request !== null) await save.mutateAsync(request).catch(() => {});
      })}
      onClose={onClose}
    >
      {customer === null && (
        <TextField
          label="ID"
          hint="The ID in your system. Cannot be changed later."
          required
          maxLength={255}
          autoFocus
          isMono
          spellCheck={false}
          autoComplete="off"
          {...register("customerId")}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Name" maxLength={255} autoComplete="off" {...register("name")} />
        <TextField label="Email" type="email" maxLength={254} autoComplete="off" {...register("email")} />
      </div>
      <TextField
        label="Billing reference"
        hint="The ID in your billing system."
        maxLength={255}
        isMono
        autoComplete="off"
        {...register("billingReference")}
      />
      <TextArea
        label="Metadata"
        hint="A JSON object."
        error={formState.errors.metadata?.message}
        isMono
        spellCheck={false}
        {...register("metadata", {
          validate: (text) => readMetadata(text) !== undefined || "Enter a JSON object.",
        })}
      />
    </WriteDialog>
  );
}

/** Bypasses the query cache. Otherwise, leaving the page would cancel both the query and the write. */
function findCustomer(customerScope: CustomerScope): Promise<Customer | null> {
  const found = api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    params: { path: customerScopeOf(customerScope) },
  });
  return answerOf(found).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  });
}

type CustomerBody = Body<"putCustomer">;

type CustomerFormValues = {
  customerId: string;
  name: string;
  email: string;
  billingReference: string;
  metadata: string;
};

/** The complete customer, because PUT clears missing fields. Null if the metadata is invalid. */
function readCustomerForm(form: CustomerFormValues): CustomerBody | null {
  const metadata = readMetadata(form.metadata);
  if (metadata === undefined) return null;
  return {
    name: form.name.trim() || null,
    email: form.email.trim() || null,
    billingReference: form.billingReference.trim() || null,
    metadata,
  };
}

/** Parses the metadata. Null if the text is empty, undefined if it is not a JSON object. */
function readMetadata(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
