import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Answer, Body } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { answerOf, api } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { usePlace } from "../../frame/use-here.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { type Customer, type Whose, whoseOf } from "./queries.ts";
import { refuseOverwriting } from "./refuse-overwriting.ts";

type Props = {
  /** Null: a new one. */
  customer: Customer | null;
  onClose: () => void;
  onSaved: (customer: Answer<"putCustomer">) => void;
};

/** Makes a customer, or changes what is known about one. */
export function CustomerDialog({ customer, onClose, onSaved }: Props) {
  const place = usePlace();
  // What the form began with.
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
  // A space that came along with a copied id would make another customer, whom nobody finds.
  const customerId = customer?.customerId ?? form.customerId.trim();
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    before: async () => refuseOverwriting(opened, await findCustomer({ ...place, customerId })),
    onSuccess: async (saved) => {
      onSaved(saved);
      await refresh("customers");
    },
  });
  const request = body === null ? null : { params: { path: { ...place, customerId } }, body };
  return (
    <WriteDialog
      title={customer === null ? "New customer" : `Edit ${customer.name ?? customer.customerId}`}
      note={
        customer === null
          ? "A customer who sends usage needs none of this: it appears by itself. All but the id may stay empty."
          : undefined
      }
      write={save}
      request={customerId === "" ? null : request}
      action={customer === null ? "Make customer" : "Save"}
      isBusy={formState.isSubmitting || save.isPending}
      onSubmit={handleSubmit(async () => {
        if (request !== null) await save.mutateAsync(request).catch(() => {});
      })}
      onClose={onClose}
    >
      {customer === null && (
        <TextField
          label="Id"
          hint="As your own system calls them, for ever."
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
        hint="What your billing system calls them."
        maxLength={255}
        isMono
        autoComplete="off"
        {...register("billingReference")}
      />
      <TextArea
        label="Metadata"
        hint="A JSON object, for people and for your own use."
        error={formState.errors.metadata?.message}
        isMono
        spellCheck={false}
        {...register("metadata", {
          validate: (text) => readMetadata(text) !== undefined || "This is no JSON object.",
        })}
      />
    </WriteDialog>
  );
}

/** By a call of its own: a query that the page shares is cancelled when the page is left, and with it the write. */
function findCustomer(whose: Whose): Promise<Customer | null> {
  const found = api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
    params: { path: whoseOf(whose) },
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

/** The whole of it: what is left out becomes empty. Null: the metadata cannot be read. */
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

/** Undefined: it is no JSON object. */
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
