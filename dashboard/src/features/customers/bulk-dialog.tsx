import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Call, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { UndoForm } from "../../frame/undo-form.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Button, TextLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAbort } from "../../ui/use-abort.ts";
import type { BulkChange, BulkOutcome, Effect } from "./bulk-change.ts";
import { type Customer, nameOf } from "./queries.ts";

const EFFECTS: readonly Column<Effect>[] = [
  { name: "Customer", isWide: true, cell: ({ customer }) => nameOf(customer) },
  {
    name: "Change",
    cell: ({ before, after }) =>
      after === null ? <span className="text-muted">{before} (no change)</span> : `${before} → ${after}`,
  },
];

export type BulkDialogProps = {
  customers: readonly Customer[];
  /** Called when the customers' values may be out of date. */
  onChanged: () => void;
  onClose: () => void;
};

/** Changes the selected customers. Shows the fields, a preview of each customer, and the result, which can be undone. */
export function BulkDialog({
  title,
  action,
  past,
  same,
  change,
  effects,
  call,
  tone = "primary",
  problem,
  onChanged,
  onClose,
  children,
}: Omit<BulkDialogProps, "customers"> & {
  title: string;
  /** "Assign Scale": the number of customers and the environment are appended. */
  action: string;
  /** "Assigned Scale to": the number of customers is appended. */
  past: string;
  /** Why a customer was left unchanged: "already had the plan". */
  same: string;
  change: BulkChange;
  /** The effect on each selected customer. Null while the form is incomplete. */
  effects: readonly Effect[] | null;
  call: Call | null;
  tone?: "primary" | "danger";
  problem?: unknown;
  children?: ReactNode;
}) {
  const { environment } = useScope();
  const [typed, setTyped] = useState("");
  const [undoing, setUndoing] = useState<string | null>(null);
  const { begin, stop } = useAbort();
  const changing = effects?.filter(({ after }) => after !== null) ?? [];
  const settle = (): void => {
    onChanged();
    void refresh("customers", "audit");
  };
  // A retry sends the same customers, even if they have been reloaded since.
  const run = useMutation({
    mutationFn: (ids: readonly string[]) => change(ids, begin()),
    onSettled: settle,
  });
  const { variables: sent = [] } = run;
  const isConfirmed = environment === "test" || typed === "live";
  if (undoing !== null)
    return (
      <Dialog isOpen isWide onClose={onClose} title="Undo change">
        <UndoForm entryId={undoing} isConfirmed={isConfirmed} onUndone={settle} onClose={onClose} />
      </Dialog>
    );
  if (run.status !== "idle")
    return (
      <Dialog isOpen isWide onClose={onClose} title={title}>
        {run.isPending && <Running count={sent.length} onStop={stop} />}
        {run.isError && <Interrupted error={run.error} onRetry={() => run.mutate(sent)} onClose={onClose} />}
        {run.isSuccess && (
          <Result
            outcome={run.data}
            effects={effects ?? []}
            past={past}
            same={same}
            onUndo={setUndoing}
            onRetry={() => run.mutate(sent)}
            onClose={onClose}
          />
        )}
      </Dialog>
    );
  return (
    <Dialog isOpen isWide onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const ids = changing.map(({ customer }) => customer.customerId);
          if (ids.length > 0 && isConfirmed) run.mutate(ids);
        }}
      >
        {children}
        {effects !== null && <Preview effects={effects} changing={changing.length} />}
        {environment === "live" && (
          <TextField
            label='Type "live" to confirm'
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
            spellCheck={false}
            isMono
          />
        )}
        <ProblemCallout error={problem ?? null} />
        {call !== null && <ApiCall call={call} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone={tone} isDisabled={changing.length === 0 || !isConfirmed}>
            {inEnvironment(
              changing.length === 0
                ? action.replace(/ to$/, "")
                : `${action} ${countOf(changing.length, "customer")}`,
              environment,
            )}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function Preview({ effects, changing }: { effects: readonly Effect[]; changing: number }) {
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="font-semibold">
        {changing === 0
          ? "Nothing will change."
          : `${formatCount(changing)} of ${countOf(effects.length, "selected customer")} will change.`}
      </p>
      <div className="max-h-72 overflow-y-auto rounded-md border border-line">
        <Table
          label="Preview of the selected customers"
          columns={EFFECTS}
          rows={effects}
          keyOf={({ customer }) => customer.customerId}
        />
      </div>
    </div>
  );
}

function Running({ count, onStop }: { count: number; onStop: () => void }) {
  return (
    <>
      <div role="status" className="flex flex-col gap-1">
        <progress aria-label="Progress" className="h-2 w-full accent-accent" />
        <p className="text-caption text-muted">
          Changing {countOf(count, "customer")}. If you stop, completed changes are kept.
        </p>
      </div>
      <DialogActions>
        <Button onClick={onStop}>Stop</Button>
      </DialogActions>
    </>
  );
}

function Interrupted({
  error,
  onRetry,
  onClose,
}: {
  error: unknown;
  onRetry: () => void;
  onClose: () => void;
}) {
  return (
    <>
      <div role="status" className="flex flex-col gap-3">
        <Callout tone="warn" title="The change was interrupted">
          Completed changes are kept. A retry does not repeat them. <LaterNote />
        </Callout>
        <ProblemCallout error={error} />
      </div>
      <DialogActions>
        <Button onClick={onRetry}>Retry</Button>
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

function Result({
  outcome: { changed, unchanged, refused, auditEntryId },
  effects,
  past,
  same,
  onUndo,
  onRetry,
  onClose,
}: {
  outcome: BulkOutcome;
  /** Has the customers' names. */
  effects: readonly Effect[];
  past: string;
  same: string;
  onUndo: (auditEntryId: string) => void;
  onRetry: () => void;
  onClose: () => void;
}) {
  const count = countOf(changed, "customer");
  return (
    <>
      <div role="status" className="flex flex-col gap-3">
        <Callout
          tone={refused.length === 0 && changed > 0 ? "good" : "warn"}
          title={changed === 0 ? "Nothing changed" : `${past} ${count}`}
        >
          {unchanged > 0 && `${countOf(unchanged, "customer")} ${same}. `}
          {refused.length > 0 && `${countOf(refused.length, "customer")} could not be changed. `}
          {auditEntryId !== null && <LaterNote />}
        </Callout>
        {refused.length > 0 && (
          <ul className="wrap-anywhere text-muted">
            {refused.slice(0, NAMED_MAX).map(({ customerId, detail }) => (
              <li key={customerId}>
                {nameOf(
                  effects.find(({ customer }) => customer.customerId === customerId)?.customer ?? {
                    customerId,
                    name: null,
                  },
                )}
                : {detail}
              </li>
            ))}
            {refused.length > NAMED_MAX && <li>And {formatCount(refused.length - NAMED_MAX)} more.</li>}
          </ul>
        )}
      </div>
      <DialogActions takesFocus>
        {auditEntryId !== null && <Button onClick={() => onUndo(auditEntryId)}>Undo…</Button>}
        {refused.length > 0 && <Button onClick={onRetry}>Retry {countOf(refused.length, "customer")}</Button>}
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

const NAMED_MAX = 10;

function LaterNote() {
  const { projectId, environment } = useScope();
  return (
    <>
      You can undo the change later in the{" "}
      <TextLink to="/workspace/audit" search={{ projectId: Number(projectId), environment }}>
        audit log
      </TextLink>
      .
    </>
  );
}
