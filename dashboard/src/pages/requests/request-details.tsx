import { type ReactNode, useEffect } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import type { LoggedRequest } from "./queries.ts";

/** Everything that the log has of one request. */
export function RequestDetails({
  request,
  onUnfold,
}: {
  request: LoggedRequest;
  onUnfold: (by: 1 | -1) => void;
}) {
  // Whoever unfolds a row reads it: nothing may move it meanwhile.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is unfolded
  useEffect(() => {
    onUnfold(1);
    return () => onUnfold(-1);
  }, []);
  const { endpoint, feature, event, status, code } = request;
  return (
    <div className="flex flex-col gap-3">
      <Details
        items={[
          { name: "Time", value: <Time at={request.recordedAt} as="exact" /> },
          { name: "Called", value: <Mono>{`POST /v1/${endpoint}`}</Mono> },
          { name: "Status", value: <Mono>{code === null ? String(status) : `${status} ${code}`}</Mono> },
          ...(feature === null ? [] : [{ name: "Feature", value: <Mono>{feature}</Mono> }]),
          ...(event === null ? [] : [{ name: "Event", value: <Mono>{event}</Mono> }]),
          { name: "Customer", value: <Customer request={request} /> },
          { name: "Idempotency key", value: <Key request={request} /> },
          { name: "Request id", value: <Mono>{request.requestId}</Mono> },
        ]}
      />
      <p className="text-caption text-muted">The log keeps no bodies, no metadata and no API keys.</p>
      <Disclosure title="JSON">
        <CodeBlock label="the request as JSON" code={JSON.stringify(request, null, 2)} />
      </Disclosure>
    </div>
  );
}

function Customer({ request: { customerId } }: { request: LoggedRequest }) {
  const place = usePlace();
  if (customerId === null) return <span className="text-muted">Nobody known, or erased since</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      {customerId}
    </TextLink>
  );
}

function Key({ request: { idempotencyKey } }: { request: LoggedRequest }) {
  const place = usePlace();
  if (idempotencyKey === null) return <span className="text-muted">None that an answer is kept under</span>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...place, idempotencyKey }}
    >
      {idempotencyKey}
    </TextLink>
  );
}

function Mono({ children }: { children: ReactNode }) {
  return <span className="font-mono text-caption wrap-anywhere">{children}</span>;
}
