import { useQuery } from "@tanstack/react-query";
import { useContext, useState } from "react";
import type { Answer, Scope } from "../api/answer.ts";
import { plansQuery } from "../api/catalog-lists.ts";
import { queryOf } from "../api/client.ts";
import { useWrite } from "../api/use-write.ts";
import { countOf, formatCount } from "../format/numbers.ts";
import { Button } from "../ui/button.tsx";
import { Callout, ProblemCallout } from "../ui/callout.tsx";
import { DialogActions, WriteForm } from "../ui/dialog.tsx";
import { EnvironmentContext } from "../ui/page.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { useCustomerName } from "./customer-picker.tsx";
import { useScope } from "./use-scope.ts";

const UNDO_PATH = "/manage/v1/projects/{projectId}/{environment}/audit/{entryId}/undo";

type Undo = Answer<"previewUndo">;
type UndoneCustomer = Undo["customers"][number];

type Props = {
  entryId: string;
  /** True if the user has just typed "live" to confirm the original change. */
  isConfirmed?: boolean;
  onUndone: () => void;
  onClose: () => void;
};

/** Undoes a change in the environment of the page. */
export function UndoForm(props: Props) {
  return <ScopedUndoForm scope={useScope()} {...props} />;
}

/** Previews the undo of an audit entry, sends it and shows the result. */
export function ScopedUndoForm({
  scope,
  entryId,
  isConfirmed = false,
  onUndone,
  onClose,
}: Props & { scope: Scope }) {
  const request = { params: { path: { ...scope, entryId } } };
  const preview = useQuery({
    ...queryOf("post", `${UNDO_PATH}/preview`, request),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { showsOwnErrors: true },
  });
  const undo = useWrite("post", UNDO_PATH, { onSettled: onUndone });
  const isLive = useContext(EnvironmentContext) === "live";
  if (undo.data !== undefined) return <Undone report={undo.data} onClose={onClose} />;
  if (preview.error !== null) return <ProblemCallout error={preview.error} />;
  if (preview.data === undefined) return <SkeletonRows rows={4} />;
  const report = preview.data;
  const { undone, allSpent } = report;
  const isUseless = undone + allSpent === 0;
  return (
    <WriteForm
      write={undo}
      request={request}
      action={isUseless ? "Undo" : actionOf(report)}
      isDisabled={isUseless}
      {...(isLive && !isConfirmed ? { wanted: "live" } : {})}
      onClose={onClose}
    >
      <Summary report={report} title={isUseless ? "Nothing can be undone." : `${futureOf(report)}.`} />
      {isCredits(report) && !isUseless && (
        <p className="text-muted">The references of these credits cannot be reused.</p>
      )}
      <CustomerTable report={report} scope={scope} />
    </WriteForm>
  );
}

function Undone({ report, onClose }: { report: Undo; onClose: () => void }) {
  const { undone, allSpent } = report;
  const nothing = allSpent === 0 ? "Nothing was undone" : `Revoked the spent ${grantsOf(report)}`;
  return (
    <>
      <div role="status">
        <Callout
          tone={keptOf(report).length === 0 ? "good" : "warn"}
          title={undone === 0 ? nothing : `Undone for ${countOf(undone, "customer")}`}
        >
          <Reasons report={report} />
        </Callout>
      </div>
      <DialogActions takesFocus>
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

function Summary({ report, title }: { report: Undo; title: string }) {
  return (
    <div role="status" className="flex flex-col gap-1">
      <p className="font-semibold">{title}</p>
      <Reasons report={report} />
    </div>
  );
}

function Reasons({ report }: { report: Undo }) {
  const { spent, held } = report;
  const sentences = [
    ...(spent === 0
      ? []
      : [`${countOf(spent, "credit")} ${spent === 1 ? "was" : "were"} already spent and cannot be removed.`]),
    ...(held === 0 ? [] : [`${countOf(held, "held credit")} will be revoked when the hold ends.`]),
    ...keptOf(report),
  ];
  if (sentences.length === 0) return null;
  return (
    <ul className="text-muted">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

/** Sentences about the customers whose balance, plan or block does not change. */
function keptOf(report: Undo): string[] {
  const { alreadyUndone, changedSince, allSpent, expired, moved, notRestorable, erased } = report;
  const spent = allSpent === 1 ? "customer has" : "customers have";
  const unchanged = (count: number, why: string) =>
    `${countOf(count, "customer")} ${count === 1 ? "is" : "are"} unchanged because ${why}.`;
  const sentences: [number, string][] = [
    [alreadyUndone, `Already undone for ${countOf(alreadyUndone, "customer")}.`],
    [changedSince, unchanged(changedSince, "of a later change")],
    [
      allSpent,
      `${formatCount(allSpent)} ${spent} spent all credits, so none are removed. Later reversals will not return credits.`,
    ],
    [expired, unchanged(expired, "the credits have expired")],
    [moved, unchanged(moved, "the credits were moved to another customer")],
    [notRestorable, unchanged(notRestorable, "the previous plan cannot be assigned")],
    [erased, `${countOf(erased, "customer")} ${erased === 1 ? "has" : "have"} been erased.`],
  ];
  return sentences.flatMap(([count, sentence]) => (count === 0 ? [] : [sentence]));
}

function isCredits({ action }: Undo): boolean {
  return action.startsWith("credits.");
}

function grantsOf({ allSpent }: Undo): string {
  return allSpent === 1 ? "grant" : "grants";
}

/** "Revoke 1,900 credits". */
function actionOf(report: Undo): string {
  const { action, undone, credits } = report;
  if (undone === 0) return `Revoke the spent ${grantsOf(report)}`;
  const customers = countOf(undone, "customer");
  if (isCredits(report))
    return credits === 0 ? `Undo for ${customers}` : `Revoke ${countOf(credits, "credit")}`;
  if (action.startsWith("plan.")) return `Restore the ${undone === 1 ? "plan" : "plans"} of ${customers}`;
  return `${action.includes("unblocked") ? "Block" : "Unblock"} ${customers}`;
}

function futureOf(report: Undo): string {
  if (report.undone === 0) return "Removes no credits";
  const customers = countOf(report.undone, "customer");
  if (isCredits(report)) return `Removes ${countOf(report.credits, "credit")} from ${customers}`;
  return `The change will be undone for ${customers}`;
}

const OUTCOMES: Readonly<Record<Exclude<UndoneCustomer["outcome"], "undone">, string>> = {
  already_undone: "Already undone",
  changed_since: "Changed again since then",
  all_spent: "All credits spent",
  expired: "Credits expired",
  moved: "Moved to another customer",
  not_restorable: "Previous plan cannot be assigned",
  erased: "Erased",
};

function CustomerTable({ report, scope }: { report: Undo; scope: Scope }) {
  const { customers } = report;
  const [columns] = useState(() => columnsOf(report, scope));
  if (customers.length === 0) return null;
  return (
    <div className="max-h-72 overflow-y-auto rounded-md border border-line">
      <Table
        label="Affected customers"
        columns={columns}
        rows={customers.map((customer, index) => ({ ...customer, key: String(index) }))}
        keyOf={({ key }) => key}
      />
    </div>
  );
}

function columnsOf(report: Undo, scope: Scope): Column<UndoneCustomer & { key: string }>[] {
  return [
    {
      name: "Customer",
      isWide: true,
      cell: ({ customerId, customerName }) => customerName ?? customerId ?? "Erased customer",
    },
    { name: "Undo", cell: (customer) => <Effect customer={customer} report={report} scope={scope} /> },
  ];
}

function Effect({ customer, report, scope }: { customer: UndoneCustomer; report: Undo; scope: Scope }) {
  const { data: plans = [] } = useQuery({
    ...plansQuery(scope),
    enabled: report.action.startsWith("plan."),
  });
  const movedTo = useCustomerName(scope, customer.movedTo ?? "");
  // The default plan applies to customers without an assigned plan.
  const plan = plans.find(({ key, isDefault }) =>
    customer.plan === null ? isDefault : key === customer.plan,
  );
  return describeCustomer({ ...customer, movedTo }, report, plan?.name ?? customer.plan);
}

function describeCustomer(
  { outcome, credits, spent, movedTo }: UndoneCustomer,
  report: Undo,
  plan: string | null,
): string {
  if (outcome === "moved" && movedTo !== "") return `Moved to ${movedTo}`;
  if (outcome !== "undone") return OUTCOMES[outcome];
  if (isCredits(report))
    return `−${countOf(credits, "credit")}${spent === 0 ? "" : ` (${formatCount(spent)} spent)`}`;
  if (report.action.startsWith("plan.")) return plan === null ? "No assigned plan" : `Back to ${plan}`;
  return report.action.includes("unblocked") ? "Blocked again" : "Unblocked";
}
