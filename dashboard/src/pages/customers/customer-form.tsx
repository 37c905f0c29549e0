import { useForm, useWatch } from "react-hook-form";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { inEnvironment } from "../../words/environments.ts";
import type { Customer } from "./queries.ts";
import {
  type CustomerBody,
  type CustomerFormValues,
  readCustomerForm,
  readMetadata,
} from "./read-customer-form.ts";

type Wish = { customerId: string; body: CustomerBody };

export function CustomerForm({
  customer,
  save,
  onClose,
}: {
  customer: Customer | null;
  save: { isPending: boolean; error: unknown; mutateAsync: (wish: Wish) => Promise<unknown> };
  onClose: () => void;
}) {
  const place = usePlace();
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
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit(async () => {
        if (body !== null) await save.mutateAsync({ customerId, body }).catch(() => {});
      })}
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
      <ProblemCallout error={save.error} />
      {body !== null && customerId !== "" && (
        <ApiCall call={{ method: "PUT", path: pathIn(place, "customers", customerId), body }} />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" isBusy={formState.isSubmitting || save.isPending}>
          {inEnvironment(customer === null ? "Make customer" : "Save", place.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}
