import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useCanGoBack, useRouter } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { featuresQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { callOf } from "../../api/use-write.ts";
import { describeRequired, type NamedDenial, sumOf, whyDenied } from "../../format/denial-sentences.ts";
import { formatCount } from "../../format/numbers.ts";
import { formatOverageLeft } from "../../format/overage.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { formatZoned } from "../../format/times.ts";
import { FeatureName, KeyLink, NamedCustomer } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Details, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { Mono } from "../../ui/text.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { askedRows } from "./asked-rows.tsx";
import { DenialCharges, DenialGrants } from "./denial-history.tsx";
import { DenialNow, Sum } from "./denial-now.tsx";
import { DENIAL_PATH, type Denial, denialQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/denials/$denialId");

/** Explains a denial: the calculation, the history and how to resolve it. */
export function DenialPage() {
  const scope = useScope();
  const { denialId } = route.useParams();
  const { data: denial } = useSuspenseQuery(denialQuery(scope, denialId));
  return (
    <Page
      title="Denied request"
      heading={`Denied: ${describeReason(denial.reason).toLowerCase()}`}
      note={
        <>
          <FeatureName feature={denial.feature} /> for{" "}
          {denial.customerName ?? denial.customerId ?? "an erased customer"},{" "}
          <Time at={denial.recordedAt} as="exact" />
        </>
      }
      actions={
        <>
          <PageCode
            json={{ label: "the denial", value: denial }}
            call={callOf("get", DENIAL_PATH, { params: { path: { ...scope, denialId } } })}
          />
          <Back customerId={denial.customerId} />
        </>
      }
    >
      <div className="grid items-start gap-6 lg:grid-cols-[3fr_2fr]">
        <div className="flex min-w-0 flex-col gap-6">
          <Why denial={denial} />
          <DenialNow denial={denial} />
        </div>
        <DenialRequest denial={denial} />
      </div>
      <DenialGrants denial={denial} />
      <DenialCharges denial={denial} />
    </Page>
  );
}

/** Back to the list that the user came from, or to the customer's requests if the denial was opened directly. */
function Back({ customerId }: { customerId: string | null }) {
  const scope = useScope();
  const router = useRouter();
  const canGoBack = useCanGoBack();
  if (canGoBack) {
    return (
      <Button icon={ArrowLeft} onClick={() => router.history.back()}>
        Back
      </Button>
    );
  }
  if (customerId === null) {
    return (
      <ButtonLink icon={ArrowLeft} to="/projects/$projectId/$environment/requests" params={scope}>
        Requests
      </ButtonLink>
    );
  }
  return (
    <ButtonLink
      icon={ArrowLeft}
      to="/projects/$projectId/$environment/customers/$customerId/requests"
      params={{ ...scope, customerId }}
    >
      This customer's requests
    </ButtonLink>
  );
}

/**
 * The denial with display names of its features and pool, and with the unit of the denied feature. The default pool keeps its key, because
 * sentences never name the default pool.
 */
function useNamed(denial: Denial): Denial & NamedDenial {
  const scope = useScope();
  const { data: features = [] } = useQuery(featuresQuery(scope));
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  const find = (wanted: string) => features.find(({ key }) => key === wanted);
  const nameOf = (key: string): string => find(key)?.name ?? key;
  const { feature, items, now, pool } = denial;
  return {
    ...denial,
    pool: pool === "credits" ? pool : (pools.find(({ key }) => key === pool)?.name ?? pool),
    feature: nameOf(feature),
    unit: find(feature)?.unit ?? null,
    items: items?.map((item) => ({ ...item, feature: nameOf(item.feature) })) ?? null,
    now: now === null ? null : { ...now, feature: nameOf(now.feature) },
  };
}

function Why({ denial: unnamed }: { denial: Denial }) {
  const clock = useClock();
  const denial = useNamed(unnamed);
  const [first, ...others] = whyDenied(denial, (at) => formatZoned(at, clock));
  return (
    <Card title="Why the request was denied">
      <div className="flex flex-col gap-4">
        <div>
          <p className="text-section wrap-anywhere">{first}</p>
          {others.map((sentence) => (
            <p key={sentence} className="mt-1 text-muted">
              {sentence}
            </p>
          ))}
        </div>
        <Sum lines={sumOf(denial)} label="Calculation" />
      </div>
    </Card>
  );
}

function DenialRequest({ denial }: { denial: Denial }) {
  const { pool } = useNamed(denial);
  const { memberId, plan, resetsAt, limit, metadata, overage } = denial;
  const items: { name: string; value: ReactNode }[] = [
    {
      name: "Customer",
      value: <NamedCustomer customerId={denial.customerId} name={denial.customerName} missing="Erased" />,
    },
    ...(memberId === null ? [] : [{ name: "Member", value: memberId }]),
    ...askedRows(denial),
    { name: denial.items === null ? "Cost" : "Required", value: describeRequired(denial) },
    {
      name: "Balance",
      value: `${formatCount(denial.balance)}${pool === "credits" ? "" : ` in ${pool}`}`,
    },
    ...(overage === null ? [] : [{ name: "Overage", value: formatOverageLeft(overage) }]),
    ...(resetsAt === null ? [] : [{ name: "Credits renew", value: <Time at={resetsAt} as="zoned" /> }]),
    ...(limit === null
      ? []
      : [
          {
            name: "Limit",
            value: (
              <>
                {formatCount(limit.used)} of {formatCount(limit.quantity)} used
                {limit.resetsAt !== null && (
                  <>
                    , resets <Time at={limit.resetsAt} as="zoned" />
                  </>
                )}
              </>
            ),
          },
        ]),
    { name: "Plan", value: plan === null ? "None" : <Plan plan={plan} /> },
    ...(denial.overrides === null
      ? []
      : [
          {
            name: "Overrides",
            value: <Overrides number={denial.overrides} customerId={denial.customerId} />,
          },
        ]),
    {
      name: "Idempotency key",
      value: (
        <KeyLink idempotencyKey={denial.idempotencyKey} missing="No longer stored">
          <Mono>{denial.idempotencyKey}</Mono>
        </KeyLink>
      ),
    },
  ];
  return (
    <Card title="Request">
      <div className="flex flex-col gap-4">
        <Details items={items} />
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function Plan({ plan: { key, name, version } }: { plan: NonNullable<Denial["plan"]> }) {
  const scope = useScope();
  return (
    <>
      <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key }}>
        {name}
      </TextLink>
      , version {version}
    </>
  );
}

function Overrides({ number, customerId }: { number: number; customerId: string | null }) {
  const scope = useScope();
  if (customerId === null) return `Version ${number}`;
  return (
    <>
      Version {number}{" "}
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId"
        params={{ ...scope, customerId }}
      >
        View customer
      </TextLink>
    </>
  );
}
