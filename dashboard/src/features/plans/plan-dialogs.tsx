import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { useWrite } from "../../api/use-write.ts";
import { keyOfName, nameOfKey } from "../../format/terms.ts";
import { useScope } from "../../frame/use-scope.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { notify } from "../../ui/toast.tsx";
import { KEY_RULES, KeyField, NAME_RULES, NameField } from "../catalog/key-fields.tsx";
import { type PlanSummary, plansQuery, refreshCatalog } from "../catalog/queries.ts";

type Values = { key: string; name: string; from: string };

/** Creates a plan as a draft. */
export function CreatePlanDialog({ onClose }: { onClose: () => void }) {
  const scope = useScope();
  const navigate = useNavigate();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const { register, handleSubmit, control, setValue, formState } = useForm<Values>({
    defaultValues: { key: "", name: "", from: "" },
  });
  const { errors, dirtyFields } = formState;
  const values = { key: "", name: "", from: "", ...useWatch({ control }) };
  const requestOf = (wanted: Values) => ({
    params: { path: { ...scope, key: wanted.key }, header: { "if-none-match": "*" } },
    body: toBody(wanted, plans),
  });
  const create = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/plans/{key}/draft", {
    onSuccess: async ({ key }) => {
      await refreshCatalog();
      await navigate({
        to: "/projects/$projectId/$environment/plans/$key/edit",
        params: { ...scope, key },
      });
    },
  });
  return (
    <WriteDialog
      title="Create plan"
      action="Create draft"
      write={create}
      request={requestOf({ ...values, key: values.key || "pro" })}
      onSubmit={handleSubmit((wanted) => create.mutate(requestOf(wanted)))}
      onClose={onClose}
    >
      <NameField
        error={errors.name?.message}
        {...register("name", {
          ...NAME_RULES,
          onChange: ({ target }) => {
            if (dirtyFields.key !== true) setValue("key", keyOfName(target.value));
          },
        })}
      />
      <KeyField
        error={errors.key?.message}
        {...register("key", {
          ...KEY_RULES,
          validate: (key) =>
            plans.some((plan) => plan.key === key) ? "This key is already in use." : undefined,
          onChange: ({ target }) => {
            if (dirtyFields.name !== true) setValue("name", nameOfKey(target.value));
          },
        })}
      />
      {plans.length > 0 && (
        <Select
          label="Copy from"
          options={[
            { value: "", label: "Empty plan" },
            ...plans
              .filter(({ latest }) => latest !== null)
              .map(({ key, name }) => ({ value: key, label: name })),
          ]}
          {...register("from")}
        />
      )}
    </WriteDialog>
  );
}

function toBody({ name, from }: Values, plans: readonly PlanSummary[]): Body<"putPlanDraft"> {
  const model = plans.find(({ key }) => key === from)?.latest ?? null;
  return {
    name: name.trim(),
    allowances: model?.allowances ?? [],
    features: (model?.features ?? []).map(({ feature, limit }) => ({ feature, limit })),
  };
}

/** Selects the plan for customers without an assigned plan. */
export function DefaultPlanDialog({ suggested, onClose }: { suggested?: string; onClose: () => void }) {
  const scope = useScope();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const current = plans.find(({ isDefault }) => isDefault) ?? null;
  const [chosen, setChosen] = useState(suggested ?? current?.key ?? "");
  const body = { plan: chosen === "" ? null : chosen };
  const name = plans.find(({ key }) => key === chosen)?.name ?? "none";
  const choose = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/default-plan", {
    onSuccess: async () => {
      await refreshCatalog();
      notify("Changed default plan", `${current?.name ?? "None"} → ${body.plan === null ? "none" : name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title="Default plan"
      action={body.plan === null ? "Remove default plan" : `Set ${name} as default`}
      write={choose}
      request={{ params: { path: scope }, body }}
      onClose={onClose}
    >
      <Select
        label="Default plan"
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
        options={[
          { value: "", label: "None" },
          ...plans
            .filter(({ latest, archivedAt }) => latest !== null && archivedAt === null)
            .map((plan) => ({ value: plan.key, label: plan.name })),
        ]}
      />
      <p className="text-muted">
        {body.plan === null
          ? "Check and consume requests for customers without an assigned plan are denied. A consume request for an unknown customer does not create the customer."
          : "Applies to customers without an assigned plan, including new ones."}
        {current !== null &&
          current.key !== chosen &&
          ` Customers who have ${current.name} by default switch immediately.`}
      </p>
    </WriteDialog>
  );
}
