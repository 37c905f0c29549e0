import { getRouteApi } from "@tanstack/react-router";
import { Ban, CalendarX, CircleCheck, Ellipsis, Eraser, Pencil, Plus } from "lucide-react";
import { Fragment, useState } from "react";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { tell } from "../../ui/toast.tsx";
import { AddCreditsDialog } from "./add-credits-dialog.tsx";
import type { AskedFor } from "./asked-for.ts";
import { AssignPlanDialog } from "./assign-plan-dialog.tsx";
import { BlockDialog } from "./block-dialog.tsx";
import { CustomerDialog } from "./customer-dialog.tsx";
import { EndPlanDialog } from "./end-plan-dialog.tsx";
import { EraseDialog } from "./erase-dialog.tsx";
import type { Customer } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

type Act = "credits" | "plan" | "end" | "edit" | "block" | "erase";

const ACTS = { "add-credits": "credits", "assign-plan": "plan", unblock: "block" } as const satisfies Record<
  AskedFor,
  Act
>;

/** What may be done to a customer, by who may do it. */
export function CustomerActions({ customer }: { customer: Customer }) {
  const isOperator = useMayActAs("operator");
  const isAdmin = useMayActAs("admin");
  const { do: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const [{ act, opening }, setState] = useState<{ act: Act | null; opening: number }>({
    act: asked === undefined ? null : ACTS[asked],
    opening: 0,
  });
  if (!isOperator) return null;
  const open = (name: Act) => setState({ act: name, opening: opening + 1 });
  const onClose = () => {
    setState({ act: null, opening });
    // It was asked for once: going back or reloading does not ask again.
    if (asked !== undefined)
      void navigate({ to: ".", search: ({ do: _, ...search }) => search, replace: true });
  };
  const dialog = (name: Act) => ({ customer, isOpen: act === name, onClose });
  return (
    <>
      <Button onClick={() => open("plan")}>Assign plan</Button>
      <Button tone="primary" icon={Plus} onClick={() => open("credits")}>
        Add credits
      </Button>
      <Menu trigger={<MoreButton />}>
        <MenuItem icon={Pencil} onClick={() => open("edit")}>
          Edit
        </MenuItem>
        {customer.plan !== null && !customer.plan.isDefault && (
          <MenuItem icon={CalendarX} onClick={() => open("end")}>
            End plan
          </MenuItem>
        )}
        <MenuItem icon={customer.isBlocked ? CircleCheck : Ban} onClick={() => open("block")}>
          {customer.isBlocked ? "Unblock" : "Block"}
        </MenuItem>
        {isAdmin && (
          <>
            <MenuSeparator />
            <MenuItem icon={Eraser} isDangerous onClick={() => open("erase")}>
              Erase for ever
            </MenuItem>
          </>
        )}
      </Menu>
      {/* What was tried before, and how it went, is forgotten with each opening. */}
      <Fragment key={opening}>
        <AddCreditsDialog {...dialog("credits")} />
        <AssignPlanDialog {...dialog("plan")} />
        <EndPlanDialog {...dialog("end")} />
        <BlockDialog {...dialog("block")} />
        <CustomerDialog
          {...dialog("edit")}
          onSaved={({ name, customerId }) => {
            tell(`Saved ${name ?? customerId}`);
            onClose();
          }}
        />
        {isAdmin && <EraseDialog {...dialog("erase")} />}
      </Fragment>
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
