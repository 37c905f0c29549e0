import { useSuspenseQuery } from "@tanstack/react-query";
import { PenLine, Plus } from "lucide-react";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useWrite } from "../../api/use-write.ts";
import { lowBalancesText, nameLowBalances, readLowBalances } from "../../format/low-balances.ts";
import { countOf } from "../../format/numbers.ts";
import { keyOfName, nameOfKey } from "../../format/terms.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Muted } from "../../ui/text.tsx";
import { notify } from "../../ui/toast.tsx";
import { KEY_RULES, KeyField, NAME_RULES, NameField } from "./key-fields.tsx";
import { featuresQuery, type Pool, poolsQuery, refreshCatalog } from "./queries.ts";

/** Credit pools. Most environments need only one. */
export function PoolsPage() {
  const scope = useScope();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<Pool | "new" | null>(null);
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const countFeatures = ({ key }: Pool): number => features.filter(({ pool }) => pool === key).length;
  const columns: readonly Column<Pool>[] = [
    {
      name: "Pool",
      csv: ({ name }) => name,
      cell: (pool) => (
        <div>
          <span className="font-medium">{pool.name}</span>
          <div className="font-mono text-caption text-muted">{pool.key}</div>
          <div className="md:hidden">
            <UsedBy count={countFeatures(pool)} />
            {pool.lowBalances.length > 0 && (
              <div className="text-caption text-muted whitespace-normal">
                Low-balance notices below {nameLowBalances(pool.lowBalances)}
              </div>
            )}
          </div>
        </div>
      ),
    },
    csvColumn("Key", ({ key }) => key),
    {
      name: "Used by",
      isWide: true,
      hidesBelow: "md",
      csv: (pool) => countFeatures(pool),
      cell: (pool) => <UsedBy count={countFeatures(pool)} />,
    },
    {
      name: "Low balances",
      isWide: true,
      hidesBelow: "md",
      csv: ({ lowBalances }) => lowBalancesText(lowBalances),
      cell: ({ lowBalances }) =>
        lowBalances.length === 0 ? <Muted>None</Muted> : nameLowBalances(lowBalances),
    },
    {
      isShown: mayEdit,
      name: "Actions",
      isActions: true,
      cell: (pool: Pool) => (
        <Button tone="quiet" icon={PenLine} aria-label={`Edit ${pool.key}`} onClick={() => setOpen(pool)}>
          Edit
        </Button>
      ),
    },
  ];
  return (
    <Page
      title="Pools"
      heading="Features"
      note="Each pool has its own balance. Most products need one."
      actions={
        mayEdit && (
          <Button icon={Plus} onClick={() => setOpen("new")}>
            Create pool
          </Button>
        )
      }
    >
      <SectionTabs section="Features" />
      <Card flush>
        <ListTable
          label="Pools"
          columns={columns}
          rows={pools}
          keyOf={({ key }) => key}
          what="pools"
          note="Pools cannot be deleted."
        />
      </Card>
      {open !== null && <PoolDialog pool={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function UsedBy({ count }: { count: number }) {
  return count === 0 ? <span className="text-muted">No features</span> : countOf(count, "feature");
}

type PoolValues = { key: string; name: string; lowBalances: string };

/** Creates a pool, or edits `pool` if it is not null. */
export function PoolDialog({
  pool,
  onSaved,
  onClose,
}: {
  pool: Pool | null;
  onSaved?: (pool: Pool) => void;
  onClose: () => void;
}) {
  const scope = useScope();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const { register, handleSubmit, control, setValue, formState } = useForm<PoolValues>({
    defaultValues: {
      key: pool?.key ?? "",
      name: pool?.name ?? "",
      lowBalances: lowBalancesText(pool?.lowBalances ?? []),
    },
  });
  const { errors, dirtyFields } = formState;
  const values = { key: "", name: "", lowBalances: "", ...useWatch({ control }) };
  const requestOf = ({ key, name, lowBalances }: PoolValues) => ({
    params: { path: { ...scope, key } },
    body: { name: name.trim(), ...changedThresholds(lowBalances, pool) },
  });
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/pools/{key}", {
    onSuccess: async (saved) => {
      await refreshCatalog();
      onSaved?.(saved);
      notify(`${pool === null ? "Created" : "Edited"} pool ${saved.name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={pool === null ? "Create pool" : `Edit ${pool.name}`}
      write={save}
      request={requestOf({ ...values, key: values.key || "video" })}
      action={pool === null ? "Create pool" : "Save pool"}
      onSubmit={(event) => {
        // In React, the event would bubble to the plan form that opened the dialog.
        event.stopPropagation();
        return handleSubmit((wanted) => save.mutate(requestOf(wanted)))(event);
      }}
      onClose={onClose}
    >
      <NameField
        error={errors.name?.message}
        {...register("name", {
          ...NAME_RULES,
          onChange: ({ target }) => {
            if (pool === null && dirtyFields.key !== true) setValue("key", keyOfName(target.value));
          },
        })}
      />
      {pool === null && (
        <KeyField
          error={errors.key?.message}
          {...register("key", {
            ...KEY_RULES,
            validate: (key) =>
              pools.some((known) => known.key === key) ? "This key is already in use." : undefined,
            onChange: ({ target }) => {
              if (dirtyFields.name !== true) setValue("name", nameOfKey(target.value));
            },
          })}
        />
      )}
      <TextArea
        label="Low balances"
        hint="Optional. Webhooks are notified when a balance falls below one of these thresholds. Up to 10 numbers, separated by commas or line breaks."
        placeholder="1000, 100"
        rows={2}
        spellCheck={false}
        error={errors.lowBalances?.message}
        {...register("lowBalances", {
          validate: (text) => {
            const read = readLowBalances(text);
            return "error" in read ? read.error : undefined;
          },
        })}
      />
      {pool === null && (
        <p className="text-muted">
          Credits in this pool pay only for features that use the pool. A pool cannot be deleted.
        </p>
      )}
    </WriteDialog>
  );
}

/** Only thresholds that change. Those of an existing pool are kept if they are omitted. */
function changedThresholds(text: string, pool: Pool | null): { lowBalances?: number[] } {
  const read = readLowBalances(text);
  if ("error" in read || read.values.join() === (pool?.lowBalances ?? []).join()) return {};
  return { lowBalances: [...read.values] };
}
