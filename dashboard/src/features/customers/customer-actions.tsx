import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Ban, CalendarX, CircleCheck, Ellipsis, Eraser, Pencil, Plus } from "lucide-react";
import { Fragment, useState } from "react";
import { plansQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { inEnvironment } from "../../format/environments.ts";
import { formatCount } from "../../format/numbers.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmByTyping } from "../../ui/confirm-by-typing.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { tell } from "../../ui/toast.tsx";
import { AssignPlanDialog } from "../assignments/assign-plan-form.tsx";
import { AddCreditsDialog } from "../credits/add-credits-form.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { CustomerDialog } from "./customer-form.tsx";
import { type AskedFor, type Customer, customerKey, useCustomerWritten } from "./queries.ts";

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

function BlockDialog({
  customer: { customerId, name, isBlocked: isBlockedNow },
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const place = usePlace();
  const refresh = useCustomerWritten(customerId);
  // As it was when the dialog opened: what a colleague does meanwhile must not turn Block into Unblock under the pointer.
  const [isBlocked] = useState(isBlockedNow);
  const body = { blocked: !isBlocked };
  const who = name ?? customerId;
  const verb = isBlocked ? "Unblock" : "Block";
  const block = useMutation({
    mutationFn: () =>
      answerOf(
        api.PUT("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/block", {
          params: { path: { ...place, customerId } },
          body,
        }),
      ),
    onSuccess: async ({ customer }) => {
      tell(
        customer.isBlocked ? `${who} is blocked` : `${who} is no longer blocked`,
        customer.isBlocked
          ? "Every request is denied from now on"
          : "Requests are decided by plan and balance again",
      );
      onClose();
      await refresh();
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`${verb} ${who}`}
      action={inEnvironment(verb, place.environment)}
      isDangerous={!isBlocked}
      work={block}
      call={{ method: "PUT", path: pathIn(place, "customers", customerId, "block"), body }}
    >
      {isBlocked
        ? "From the next request on, plan and balance decide again."
        : "From the next request on everything is denied, with the reason customer_blocked. Plan and credits stay theirs, and periods go on."}
    </ConfirmDialog>
  );
}

function EndPlanDialog({
  customer,
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const { customerId, name, plan } = customer;
  const place = usePlace();
  const refresh = useCustomerWritten(customerId);
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  const fallback = plans.find(({ isDefault }) => isDefault);
  const end = useMutation({
    mutationFn: () =>
      answerOf(
        api.DELETE("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan", {
          params: { path: { ...place, customerId } },
        }),
      ),
    onSuccess: async ({ outcome, customer: after }) => {
      const balance = `Balance ${sumOf(customer)} → ${sumOf(after)}`;
      if (outcome === "ended")
        tell(`${plan?.name ?? "The plan"} has ended for ${name ?? customerId}`, balance);
      else tell("Nothing changed", "No plan was assigned any more");
      onClose();
      await refresh();
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`End ${plan?.name ?? "the plan"} of ${name ?? customerId}`}
      action={inEnvironment(`End ${plan?.name ?? "the plan"} now`, place.environment)}
      isDangerous
      work={end}
      call={{ method: "DELETE", path: pathIn(place, "customers", customerId, "plan") }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>What is left of the plan's credits ends now. Top-ups stay.</li>
        <li>
          {fallback === undefined
            ? "There is no default plan: every request will be denied until a plan is assigned."
            : `The default plan, ${fallback.name}, takes over.`}
        </li>
      </ul>
    </ConfirmDialog>
  );
}

/** One pool says it all nearly everywhere. */
function sumOf({ balances }: Customer): string {
  return balances.map(({ balance }) => formatCount(balance)).join(" / ") || "0";
}

function EraseDialog({
  customer: { customerId, name },
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const place = usePlace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const erase = useMutation({
    mutationFn: () =>
      answerOf(
        api.DELETE("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}", {
          params: { path: { ...place, customerId } },
        }),
      ),
    onSuccess: async () => {
      onClose();
      await queryClient.invalidateQueries({ queryKey: ["customers", place] });
      // Away from the page first: there is nothing left that it could ask for.
      await navigate({ to: "/projects/$projectId/$environment/customers", params: place });
      queryClient.removeQueries({ queryKey: customerKey(place, customerId) });
      tell("The customer is erased", "Amounts stay, under a number that leads to nobody");
    },
  });
  return (
    <ConfirmByTyping
      isOpen={isOpen}
      onClose={onClose}
      title={`Erase ${name ?? customerId} for ever`}
      wanted={customerId}
      action={inEnvironment("Erase for ever", place.environment)}
      isBusy={erase.isPending}
      error={erase.error}
      onConfirm={() => erase.mutate()}
    >
      <div className="flex flex-col gap-3">
        <p>
          Gone for good: the id, name, email, billing reference and metadata, the metadata of everything they
          did, notes and references of their credits, and the text of their idempotency keys.
        </p>
        <p>
          Amounts stay in the ledger, under a number that leads to nobody, so that sums still hold. Until it
          is done the customer is blocked; with very many events it takes minutes.
        </p>
        <ApiCall call={{ method: "DELETE", path: pathIn(place, "customers", customerId) }} />
      </div>
    </ConfirmByTyping>
  );
}
