import { getRouteApi, useNavigate } from "@tanstack/react-router";
import {
  Ban,
  BellRing,
  CalendarX,
  CircleCheck,
  Ellipsis,
  Eraser,
  Pencil,
  Plus,
  SlidersHorizontal,
} from "lucide-react";
import { useState } from "react";
import { queryClient } from "../../api/query-client.ts";
import { about, refresh, useWrite } from "../../api/use-write.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { lazyDialog } from "../../ui/lazy.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { notify } from "../../ui/toast.tsx";
import { EditAlertsDialog } from "../alerts/alerts-card.tsx";
import { CancelPlanDialog } from "../assignments/plan-standing.tsx";
import { EditOverridesDialog } from "../overrides/overrides-card.tsx";
import type { Customer, LinkedDialog } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

const AddCreditsDialog = lazyDialog(() =>
  import("../credits/add-credits-form.tsx").then((module) => module.AddCreditsDialog),
);
const AssignPlanDialog = lazyDialog(() =>
  import("../assignments/assign-plan-form.tsx").then((module) => module.AssignPlanDialog),
);
const CustomerDialog = lazyDialog(() =>
  import("./customer-form.tsx").then((module) => module.CustomerDialog),
);

type Act = "credits" | "plan" | "cancel" | "overrides" | "alerts" | "edit" | "block" | "erase";

const ACTS: Record<LinkedDialog, Act> = {
  "add-credits": "credits",
  "assign-plan": "plan",
  "edit-overrides": "overrides",
  "edit-alerts": "alerts",
  unblock: "block",
};

/** Actions on a customer, by role. */
export function CustomerActions({ customer }: { customer: Customer }) {
  const isOperator = useMayActAs("operator");
  const isAdmin = useMayActAs("admin");
  const { do: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const [act, setAct] = useState<Act | null>(asked === undefined ? null : ACTS[asked]);
  if (!isOperator) return null;
  const onClose = () => {
    setAct(null);
    // Remove the parameter, so that a reload does not open the dialog again.
    if (asked !== undefined)
      void navigate({ to: ".", search: ({ do: _, ...search }) => search, replace: true });
  };
  const dialog = { customer, onClose };
  return (
    <>
      <Button onClick={() => setAct("plan")}>Assign plan</Button>
      <Button tone="primary" icon={Plus} onClick={() => setAct("credits")}>
        Add credits
      </Button>
      <Menu trigger={<MoreButton />}>
        <MenuItem icon={Pencil} onClick={() => setAct("edit")}>
          Edit
        </MenuItem>
        <MenuItem icon={SlidersHorizontal} onClick={() => setAct("overrides")}>
          Edit overrides
        </MenuItem>
        <MenuItem icon={BellRing} onClick={() => setAct("alerts")}>
          Edit alerts and top-ups
        </MenuItem>
        {customer.plan !== null && !customer.plan.isDefault && (
          <MenuItem icon={CalendarX} onClick={() => setAct("cancel")}>
            Cancel plan
          </MenuItem>
        )}
        <MenuItem icon={customer.isBlocked ? CircleCheck : Ban} onClick={() => setAct("block")}>
          {customer.isBlocked ? "Unblock" : "Block"}
        </MenuItem>
        {isAdmin && (
          <>
            <MenuSeparator />
            <MenuItem icon={Eraser} isDangerous onClick={() => setAct("erase")}>
              Erase permanently
            </MenuItem>
          </>
        )}
      </Menu>
      {act === "credits" && <AddCreditsDialog {...dialog} />}
      {act === "plan" && <AssignPlanDialog {...dialog} />}
      {act === "overrides" && <EditOverridesDialog {...dialog} />}
      {act === "alerts" && <EditAlertsDialog {...dialog} />}
      {act === "cancel" && <CancelPlanDialog {...dialog} />}
      {act === "block" && <BlockDialog {...dialog} />}
      {act === "edit" && (
        <CustomerDialog
          {...dialog}
          onSaved={({ name, customerId }) => {
            notify(`Saved ${name ?? customerId}`);
            onClose();
          }}
        />
      )}
      {act === "erase" && <EraseDialog {...dialog} />}
    </>
  );
}

function MoreButton(props: object) {
  return (
    <button
      type="button"
      aria-label="More actions"
      title="More actions"
      className="inline-flex size-8 items-center justify-center rounded-md border border-line bg-surface text-muted hover:bg-hover hover:text-ink"
      {...props}
    >
      <Ellipsis className="size-4" aria-hidden />
    </button>
  );
}

type DialogProps = { customer: Customer; onClose: () => void };

const CUSTOMER_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}";

function BlockDialog({ customer: { customerId, name, isBlocked: isBlockedNow }, onClose }: DialogProps) {
  const scope = useScope();
  // Frozen, so that a concurrent change does not turn Block into Unblock.
  const [isBlocked] = useState(isBlockedNow);
  const who = name ?? customerId;
  const verb = isBlocked ? "Unblock" : "Block";
  const block = useWrite("put", `${CUSTOMER_PATH}/block`, {
    onSuccess: async ({ customer }) => {
      notify(
        customer.isBlocked ? `Blocked ${who}` : `Unblocked ${who}`,
        customer.isBlocked
          ? "All checks, charges and new holds are denied from now on"
          : "Requests are allowed again, subject to the plan and balance",
      );
      onClose();
      await refresh("customers");
    },
  });
  return (
    <WriteDialog
      onClose={onClose}
      title={`${verb} ${who}`}
      write={block}
      request={{ params: { path: { ...scope, customerId } }, body: { blocked: !isBlocked } }}
      action={verb}
      tone={isBlocked ? "primary" : "danger"}
    >
      <p>
        {isBlocked
          ? "Requests will be allowed again, subject to the plan and balance."
          : "All checks, charges and new holds will be denied (customer_blocked). The plan and credits are kept."}
      </p>
    </WriteDialog>
  );
}

function EraseDialog({ customer: { customerId, name }, onClose }: DialogProps) {
  const scope = useScope();
  const navigate = useNavigate();
  const erase = useWrite("delete", CUSTOMER_PATH, {
    onSuccess: async () => {
      onClose();
      await queryClient.invalidateQueries({ ...about("customers"), refetchType: "none" });
      // Leave the page first: its queries would fail.
      await navigate({ to: "/projects/$projectId/$environment/customers", params: scope });
      queryClient.removeQueries({ ...about("customers"), type: "inactive" });
      // Remove personal data even if the old page is still mounted.
      queryClient.removeQueries({ predicate: ({ queryKey }) => isAboutCustomer(queryKey, customerId) });
      notify("Customer erased", "Amounts stay in the ledger without personal data");
    },
  });
  return (
    <WriteDialog
      onClose={onClose}
      title={`Erase ${name ?? customerId} permanently`}
      write={erase}
      request={{ params: { path: { ...scope, customerId } } }}
      wanted={customerId}
      action="Erase permanently"
      tone="danger"
    >
      <p>
        This deletes the customer's ID, name, email, billing reference, members, metadata, notes and
        idempotency keys.
      </p>
      <p>Amounts stay in the ledger under an anonymous number. The ID can be reused immediately.</p>
    </WriteDialog>
  );
}

function isAboutCustomer([, , request]: readonly unknown[], customerId: string): boolean {
  const { params } = (request ?? {}) as { params?: { path?: { customerId?: string } } };
  return params?.path?.customerId === customerId;
}
