import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { RefreshCw, Send } from "lucide-react";
import { useId } from "react";
import { useForm } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { mayActAs, roleIn } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { randomHex } from "../../format/hex.ts";
import { countOf } from "../../format/numbers.ts";
import { CustomerPicker } from "../../frame/customer-picker.tsx";
import { useMayActAs, useScope, useSession } from "../../frame/use-scope.ts";
import { Button, ButtonLink, IconButton } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { activeFeaturesQuery, type LoggedRequest } from "./queries.ts";
import { TestRequestResult } from "./test-request-result.tsx";

/** Initial values of the form. With a key that was used before, the responses are replays. */
export type TestRequestStart = Partial<
  Pick<TestRequestValues, "customerId" | "feature" | "quantity" | "idempotencyKey">
>;

const ENDPOINTS = [
  { value: "consume", label: "consume" },
  { value: "check", label: "check" },
];

function TestRequestForm({ start, onClose }: { start: TestRequestStart; onClose: () => void }) {
  const scope = useScope();
  const listId = useId();
  const { data: features = [] } = useQuery(activeFeaturesQuery(scope));
  const { register, handleSubmit, watch, setValue } = useForm<TestRequestValues>({
    defaultValues: {
      endpoint: "consume",
      customerId: start.customerId ?? "",
      feature: start.feature ?? "",
      quantity: start.quantity ?? "1",
      idempotencyKey: start.idempotencyKey ?? freshKey(),
      times: "32",
    },
  });
  const values = watch();
  const send = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/tries", {
    onSuccess: () => refresh("customers"),
  });
  const requestOf = (wanted: TestRequestValues) => ({
    params: { path: scope },
    body: toTestRequestBody(wanted),
  });
  const wrong = (field: keyof TestRequestValues): string | undefined =>
    send.error instanceof ApiProblem
      ? send.error.errors.find((error) => error.field === field)?.message
      : undefined;
  return (
    <form className="flex flex-col gap-4" onSubmit={handleSubmit((wanted) => send.mutate(requestOf(wanted)))}>
      <div className="grid gap-4 sm:grid-cols-2">
        <CustomerPicker
          label="Customer"
          isRequired
          allowsNew
          scope={scope}
          customerId={values.customerId}
          onChoose={(customer) => setValue("customerId", customer?.customerId ?? "")}
          error={wrong("customerId")}
        />
        <div>
          <TextField
            label="Feature"
            required
            maxLength={120}
            list={listId}
            autoComplete="off"
            spellCheck={false}
            error={wrong("feature")}
            {...register("feature")}
          />
          <datalist id={listId}>
            {features.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </datalist>
        </div>
        <div className="flex items-start gap-1">
          <div className="flex-1">
            <TextField
              label="Idempotency key"
              required
              maxLength={255}
              isMono
              autoComplete="off"
              spellCheck={false}
              error={wrong("idempotencyKey")}
              {...register("idempotencyKey")}
            />
          </div>
          <div className="pt-6">
            <IconButton
              icon={RefreshCw}
              label="Generate key"
              onClick={() => setValue("idempotencyKey", freshKey())}
            />
          </div>
        </div>
        <div className="grid grid-cols-[1.4fr_1fr_1fr] gap-3">
          <Select label="Endpoint" options={ENDPOINTS} {...register("endpoint")} />
          <TextField
            label="Quantity"
            required
            inputMode="numeric"
            error={wrong("quantity")}
            {...register("quantity")}
          />
          <TextField
            label="Requests"
            required
            inputMode="numeric"
            error={wrong("times")}
            {...register("times")}
          />
        </div>
      </div>
      <ProblemCallout error={send.error} />
      {send.isSuccess && <TestRequestResult result={{ ...send.data, tried: send.variables.body }} />}
      <ApiCall call={send.callOf(requestOf(values))} />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" tone="primary" isBusy={send.isPending}>
          {inEnvironment(`Send ${countOf(Number(values.times) || 0, "request")}`, scope.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Requests are logged within this time. */
const LOG_DELAY_MS = 2_000;

/** Sends a request many times at once, to show that it is charged once. */
export function TestRequestDialog({ start, onClose }: { start: TestRequestStart; onClose: () => void }) {
  const scope = useScope();
  const readAgain = (): void => void refresh("requests", "keys");
  const close = (): void => {
    onClose();
    readAgain();
    // The log may not have the request yet.
    setTimeout(readAgain, LOG_DELAY_MS);
  };
  if (scope.environment === "live") return <NotInLive onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onClose={close}
      title="Send test requests"
      note="Sends the same request several times with one idempotency key. The customer is charged at most once."
      isWide
    >
      <TestRequestForm start={start} onClose={close} />
    </Dialog>
  );
}

function NotInLive({ onClose }: { onClose: () => void }) {
  const scope = { projectId: useScope().projectId, environment: "test" } as const;
  const mayTest = mayActAs(roleIn(useSession(), scope), "operator");
  return (
    <Dialog isOpen onClose={onClose} title="Available only in Test">
      <Callout tone="warn">In Live, test requests would charge real customers.</Callout>
      <DialogActions>
        {mayTest ? (
          <ButtonLink
            tone="primary"
            to="/projects/$projectId/$environment/requests"
            params={scope}
            search={{ do: "try" }}
          >
            Open in Test
          </ButtonLink>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

type TestRequestValues = {
  endpoint: "check" | "consume";
  customerId: string;
  feature: string;
  quantity: string;
  idempotencyKey: string;
  times: string;
};

/** The API validates the numbers; errors are shown next to the fields. */
function toTestRequestBody(values: TestRequestValues): Body<"tryRequest"> {
  const { endpoint, customerId, feature, idempotencyKey } = values;
  return {
    endpoint,
    customerId: customerId.trim(),
    feature: feature.trim(),
    quantity: Number(values.quantity),
    idempotencyKey: idempotencyKey.trim(),
    times: Number(values.times),
  };
}

function freshKey(): string {
  return `try-${randomHex(6)}`;
}

const route = getRouteApi("/signed-in/projects/$projectId/$environment/requests");

/** Starts with the customer and feature from the newest request. `?do=try` opens the form. */
export function TestRequestButton({ start }: { start: LoggedRequest | undefined }) {
  const isOperator = useMayActAs("operator");
  const navigate = route.useNavigate();
  const isOpen = route.useSearch().do === "try";
  if (!isOperator) return null;
  const show = (isShown: boolean): void =>
    void navigate({
      search: ({ do: _, ...search }) => (isShown ? { ...search, do: "try" as const } : search),
      replace: true,
      resetScroll: false,
    });
  const { customerId, feature } = start ?? { customerId: null, feature: null };
  return (
    <>
      <Button icon={Send} onClick={() => show(true)}>
        Send test requests
      </Button>
      {isOpen && (
        <TestRequestDialog
          start={{
            ...(customerId === null ? {} : { customerId }),
            ...(feature === null ? {} : { feature }),
          }}
          onClose={() => show(false)}
        />
      )}
    </>
  );
}
