import type { ReactNode } from "react";
import type { Item } from "../api/answer.ts";
import { outcomeOf } from "../format/request-sentences.ts";
import { Badge } from "../ui/badge.tsx";
import { TextLink } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { Muted } from "../ui/text.tsx";
import { useEventNames, useFeatureNames, usePoolNames, useScope } from "./use-scope.ts";

/** Link to a customer in the current environment, by name; `missing` is the text for an unknown or erased customer. */
export function CustomerLink({
  customerId,
  name = null,
  missing,
  width,
}: {
  customerId: string | null;
  /** If null or missing, the ID is shown. */
  name?: string | null;
  missing?: string;
  /** Cuts the name to this width, for tables. The tooltip shows it in full, with the ID. */
  width?: string;
}) {
  const scope = useScope();
  if (customerId === null) return <Muted>{missing}</Muted>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId"
      params={{ ...scope, customerId }}
      title={name === null ? customerId : `${name} (${customerId})`}
    >
      <span className={classNames("wrap-anywhere", width !== undefined && `block truncate ${width}`)}>
        {name ?? customerId}
      </span>
    </TextLink>
  );
}

/** A customer by name, with the ID beside it. */
export function NamedCustomer({
  customerId,
  name,
  missing,
}: {
  customerId: string | null;
  name: string | null;
  missing?: string;
}) {
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      <CustomerLink customerId={customerId} name={name} {...(missing === undefined ? {} : { missing })} />
      {name !== null && customerId !== null && (
        <code className="font-mono text-caption text-muted wrap-anywhere">{customerId}</code>
      )}
    </span>
  );
}

/** A feature by name. The tooltip shows the key. */
export function FeatureName({ feature, ...shown }: { feature: string } & NameLook) {
  return <NameOfKey name={useFeatureNames()(feature)} code={feature} {...shown} />;
}

/** An event by the name of its key. The tooltip shows the key. */
export function EventName({ event, ...shown }: { event: string } & NameLook) {
  return <NameOfKey name={useEventNames()(event)} code={event} {...shown} />;
}

type NameLook = {
  /** Shows the key beside the name. */
  hasKey?: boolean;
  /** Cuts the name to this width, for tables. */
  width?: string;
};

function NameOfKey({ name, code, hasKey = false, width }: { name: string; code: string } & NameLook) {
  return (
    <span
      title={code}
      className={classNames("wrap-anywhere", width !== undefined && `block truncate ${width}`)}
    >
      {name}
      {hasKey && name !== code && (
        <>
          {" "}
          <code className="ml-1 font-mono text-caption text-muted">{code}</code>
        </>
      )}
    </span>
  );
}

/** A pool by name. */
export function PoolName({ pool }: { pool: string }) {
  return usePoolNames()(pool);
}

/** Link to an idempotency key in the current environment. */
export function KeyLink({
  idempotencyKey,
  missing,
  children = idempotencyKey,
}: {
  idempotencyKey: string | null;
  missing?: string;
  children?: ReactNode;
}) {
  const scope = useScope();
  if (idempotencyKey === null) return <Muted>{missing}</Muted>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...scope, idempotencyKey }}
    >
      {children}
    </TextLink>
  );
}

type Request = Pick<
  Item<"listRequests">,
  "endpoint" | "status" | "code" | "reason" | "isReplay" | "idempotencyKey"
> &
  Partial<Pick<Item<"listRequests">, "counts">>;

const TONES = { ok: "good", denied: "bad", rejected: "warn", failed: "bad" } as const;

/** Outcome of a request, its reason, and a link to the explanation of a denial. */
export function Outcome({
  request,
  explanation = <WhyLink request={request} />,
  children,
}: {
  request: Request;
  explanation?: ReactNode;
  children?: ReactNode;
}) {
  const { kind, name, why } = outcomeOf(request);
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5 xl:flex-nowrap">
      <Badge tone={TONES[kind]}>{name}</Badge>
      {request.isReplay && <Badge>Replay</Badge>}
      {why !== null && (
        <span
          title={request.code === null ? undefined : `${request.status} ${request.code}`}
          className="max-xl:min-w-28 max-xl:whitespace-normal"
        >
          {why}
        </span>
      )}
      {explanation}
      {children}
    </span>
  );
}

/** Only stored denials can be explained: not checks or extensions of holds, and not denials that can be retried with the same key. */
function WhyLink({ request: { reason, endpoint, idempotencyKey } }: { request: Request }) {
  const scope = useScope();
  const isStored = endpoint === "consume" || endpoint === "holds";
  if (reason === null || !isStored || idempotencyKey === null) return null;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey/why"
      params={{ ...scope, idempotencyKey }}
      preload={false}
    >
      Why?
    </TextLink>
  );
}
