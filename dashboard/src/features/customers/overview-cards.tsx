import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Feature, featuresQuery } from "../../api/catalog-lists.ts";
import { describeHeld } from "../../format/holds.ts";
import { BURN_ORDER, GRANT_NAMES } from "../../format/ledger.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { describeOverageLeft } from "../../format/overage.ts";
import { leavesAt } from "../../format/plan-standing.ts";
import {
  capitalize,
  formatCost,
  formatExtras,
  formatLimit,
  formatPeriodCredits,
  nameOverage,
} from "../../format/terms.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { givenReference } from "../credits/credits-form.ts";
import { findRenewal, openInBurnOrder, unexplainedCredits } from "../credits/grants.ts";
import type { Grant, KnownGrants } from "../ledger/queries.ts";
import { applyOverrides, type OwnTerms } from "./own-terms.ts";
import { type Customer, planVersionQuery } from "./queries.ts";

const GRANTS_SHOWN = 10;

/** The open grants that are spent first. The Grants tab shows all grants. */
export function OpenGrantsCard({ customer, known }: { customer: Customer; known: KnownGrants }) {
  const scope = useScope();
  const open = openInBurnOrder(known.grants);
  const further = open.slice(GRANTS_SHOWN);
  const missing = unexplainedCredits(customer.balances, known);
  const isOnePool = customer.balances.length < 2;
  const held = customer.balances.filter((balance) => balance.held > 0);
  const nameOf = usePoolNames();
  return (
    <Card
      title="Remaining credits"
      note={BURN_ORDER}
      flush
      actions={
        <TextLink
          to="/projects/$projectId/$environment/customers/$customerId/grants"
          params={{ ...scope, customerId: customer.customerId }}
        >
          All grants
        </TextLink>
      }
    >
      {open.length === 0 ? (
        missing.length === 0 && (
          <p className="px-4 py-6 text-center text-muted">
            {held.length === 0 ? "No credits left." : "No credits left to spend."}
          </p>
        )
      ) : (
        <Table
          label="Remaining credits"
          columns={columnsFor(isOnePool, nameOf)}
          rows={open.slice(0, GRANTS_SHOWN)}
          keyOf={({ grant }) => grant}
        />
      )}
      {further.length > 0 && (
        <p className="border-t border-line px-4 py-2 text-caption text-muted">
          {countOf(further.length, "more grant")} will be spent after these.
        </p>
      )}
      {missing.map(({ pool, credits, why }) => (
        <p key={pool} className="border-t border-line px-4 py-2 text-caption text-muted">
          {open.length === 0 ? "" : "Plus "}
          {countOf(credits, "credit")}
          {isOnePool ? "" : ` in ${nameOf(pool)}`} {why}
        </p>
      ))}
      {customer.balances.map(
        ({ pool, overage }) =>
          overage !== null && (
            <p key={pool} className="border-t border-line px-4 py-2 text-caption text-muted">
              {isOnePool ? "" : `${nameOf(pool)}: `}
              {describeOverageLeft(overage)}
            </p>
          ),
      )}
      {held.map((balance) => (
        <p key={balance.pool} className="border-t border-line px-4 py-2 text-caption text-muted">
          {isOnePool ? "" : `${nameOf(balance.pool)}: `}
          {describeHeld(balance.held)} by{" "}
          <TextLink
            to="/projects/$projectId/$environment/customers/$customerId/holds"
            params={{ ...scope, customerId: customer.customerId }}
          >
            open holds
          </TextLink>
          .
        </p>
      ))}
    </Card>
  );
}

function columnsFor(isOnePool: boolean, nameOf: (pool: string) => string): Column<Grant>[] {
  return [
    {
      name: "Credits",
      isWide: true,
      cell: ({ kind, reference, note }) => {
        const about = note ?? givenReference(reference);
        return (
          <>
            {GRANT_NAMES[kind]}
            {about !== null && <div className="text-caption text-muted wrap-anywhere">{about}</div>}
          </>
        );
      },
    },
    ...(isOnePool ? [] : [{ name: "Pool", cell: ({ pool }: Grant) => nameOf(pool) }]),
    {
      name: "Remaining",
      isNumber: true,
      cell: ({ remaining, held, credits }) => (
        <>
          {formatCount(remaining)} <span className="text-muted max-sm:hidden">of {formatCount(credits)}</span>
          {held > 0 && <div className="text-caption text-muted">{formatCount(held)} held</div>}
        </>
      ),
    },
    {
      name: "Expires",
      cell: ({ expiresAt }) => <Time at={expiresAt} as="day" />,
    },
  ];
}

type ActivePlan = NonNullable<Customer["plan"]>;

/** Terms of the customer's plan version, including overrides. The version can be older than the latest version. */
export function PlanCard({ customer, grants }: { customer: Customer; grants: readonly Grant[] }) {
  const { plan } = customer;
  if (plan === null) {
    return (
      <Card title="Plan">
        <p className="text-muted">
          No plan. All checks, charges and new holds are denied until you assign a plan.
        </p>
      </Card>
    );
  }
  return <Terms customer={customer} plan={plan} grants={grants} />;
}

type TermsProps = { customer: Customer; plan: ActivePlan; grants: readonly Grant[] };

function Terms({ customer, plan, grants }: TermsProps) {
  const { nextPlan, overrides } = customer;
  const leaves = leavesAt(customer);
  const scope = useScope();
  const { data: version } = useQuery(planVersionQuery(scope, plan));
  const { data: features = [] } = useQuery(featuresQuery(scope));
  const nameOf = usePoolNames();
  return (
    <Card
      title={
        <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key: plan.key }}>
          {plan.name}
        </TextLink>
      }
      note={`Version ${plan.version}${plan.isDefault ? ", default plan" : ""}`}
    >
      <Details
        items={[
          { name: "Active since", value: <Time at={plan.anchor} /> },
          { name: "Ends", value: <Time at={leaves} /> },
          ...(nextPlan === null
            ? []
            : [
                {
                  name: "Next plan",
                  value: (
                    <>
                      <TextLink
                        to="/projects/$projectId/$environment/plans/$key"
                        params={{ ...scope, key: nextPlan.key }}
                      >
                        {nextPlan.name}
                      </TextLink>{" "}
                      from <Time at={nextPlan.startsAt} />
                    </>
                  ),
                },
              ]),
          ...(version == null
            ? []
            : termsOf(applyOverrides(version, overrides), { grants, features, leaves, nameOf })),
        ]}
      />
    </Card>
  );
}

function termsOf(
  { allowances, features }: OwnTerms,
  known: {
    grants: readonly Grant[];
    features: readonly Feature[];
    leaves: string | null;
    nameOf: (pool: string) => string;
  },
) {
  return [
    ...allowances.map((allowance) => {
      const next = findRenewal(allowance, known.grants);
      // A plan that ends by then does not renew.
      const renewal = next === null || (known.leaves !== null && known.leaves <= next) ? null : next;
      return {
        name: allowances.length === 1 ? "Includes" : `Includes ${known.nameOf(allowance.pool)}`,
        value: (
          <>
            {capitalize(formatPeriodCredits(allowance))}
            {formatExtras(allowance.isOwnOverage ? { ...allowance, overage: 0 } : allowance).map((extra) => (
              <Note key={extra}>{capitalize(extra)}</Note>
            ))}
            {allowance.own !== null && (
              <Note>Override: {countOf(allowance.own, "credit")} in each new period</Note>
            )}
            {allowance.isOwnOverage && <Note>Override: {nameOverage(allowance.overage)}</Note>}
            {renewal !== null && (
              <Note>
                Renews <Time at={renewal} />
              </Note>
            )}
          </>
        ),
      };
    }),
    ...features.map(({ feature, cost, limit, isOwn }) => {
      const { name, unit } = known.features.find(({ key }) => key === feature) ?? {
        name: feature,
        unit: null,
      };
      return {
        name,
        value: (
          <>
            {cost === null ? "Not included" : capitalize(formatCost(cost, unit))}
            {cost !== null && limit !== null && <Note>{capitalize(formatLimit(limit, unit))}</Note>}
            {isOwn && <Note>Override</Note>}
          </>
        ),
      };
    }),
  ];
}

function Note({ children }: { children: ReactNode }) {
  return <div className="text-caption text-muted">{children}</div>;
}
