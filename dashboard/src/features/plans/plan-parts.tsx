import { useSuspenseQuery } from "@tanstack/react-query";
import { ArrowRight, type LucideIcon, Minus, Plus } from "lucide-react";
import { Fragment, useId } from "react";
import type { Scope } from "../../api/answer.ts";
import { type Allowance, capitalize, formatExtras, formatPeriodCredits } from "../../format/terms.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { classNames } from "../../ui/class-names.ts";
import {
  featuresQuery,
  type PlanSummary,
  type PlanVersion,
  plansQuery,
  poolsQuery,
} from "../catalog/queries.ts";
import type { Names, Sentence } from "./plan-terms.ts";

export function PlanBadges({
  plan: { isDefault, hasDraft, archivedAt, latest },
}: {
  plan: Pick<PlanSummary, "isDefault" | "hasDraft" | "archivedAt"> & { latest: object | null };
}) {
  return (
    <>
      {isDefault && <Badge tone="accent">Default plan</Badge>}
      {hasDraft && <Badge tone="warn">{latest === null ? "Draft only" : "Draft"}</Badge>}
      {archivedAt !== null && <Badge>Archived</Badge>}
    </>
  );
}

/** One line per pool; the pool name is omitted if there is only one pool. */
export function AllowanceLines({
  allowances,
}: {
  allowances: readonly (Allowance & { readonly pool: string })[];
}) {
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  if (allowances.length === 0) return <p className="text-muted">No credits.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {allowances.map((allowance) => {
        const { pool } = allowance;
        const name = pools.length > 1 ? [`in ${pools.find(({ key }) => key === pool)?.name ?? pool}`] : [];
        return (
          <li key={pool}>
            <span className="block font-medium">{formatPeriodCredits(allowance)}</span>
            {[...name, ...formatExtras(allowance)].map((note) => (
              <span key={note} className="block text-caption text-muted">
                {capitalize(note)}
              </span>
            ))}
          </li>
        );
      })}
    </ul>
  );
}

/** "Free, Pro and Scale", each a link. */
export function PlanNames({ keys }: { keys: readonly string[] }) {
  const scope = useScope();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  return keys.map((key, index) => (
    <Fragment key={key}>
      {index > 0 && (index === keys.length - 1 ? " and " : ", ")}
      <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key }}>
        {plans.find((plan) => plan.key === key)?.name ?? key}
      </TextLink>
    </Fragment>
  ));
}

const LOOKS: Record<Sentence["kind"], { icon: LucideIcon; look: string }> = {
  added: { icon: Plus, look: "bg-good-soft text-good" },
  removed: { icon: Minus, look: "bg-bad-soft text-bad" },
  changed: { icon: ArrowRight, look: "bg-sunken text-muted" },
};

export function SentenceList({ label, sentences }: { label: string; sentences: readonly Sentence[] }) {
  return (
    <ul aria-label={label} className="flex flex-col gap-2">
      {sentences.map(({ kind, text }) => {
        const { icon: Icon, look } = LOOKS[kind];
        return (
          <li key={text} className="flex gap-2.5">
            <span
              aria-hidden
              className={classNames(
                "mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full",
                look,
              )}
            >
              <Icon className="size-3" />
            </span>
            <span className="min-w-0 wrap-anywhere">{text}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** Names of features and pools by key. */
export function useNames(scope: Scope): Names {
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  return {
    feature: (key) => features.find((feature) => feature.key === key) ?? { name: key, unit: null },
    pool: (key) => (pools.length < 2 ? null : (pools.find((pool) => pool.key === key)?.name ?? key)),
  };
}

export type Reach = PlanVersion["reach"];

export const REACH_NAMES: Record<Reach, string> = {
  new_assignments: "New assignments only",
  next_period: "All customers, at their next renewal",
  now: "All customers, now",
};

const REACHES = ["new_assignments", "next_period", "now"] as const satisfies readonly Reach[];

/** Selects which customers get a new version. */
export function ReachChoice({
  value,
  onChange,
  notes,
}: {
  value: Reach;
  onChange: (reach: Reach) => void;
  notes: Readonly<Record<Reach, string>>;
}) {
  return (
    <Choices
      label="Applies to"
      name={useId()}
      choices={REACHES.map((reach) => ({ value: reach, name: REACH_NAMES[reach], note: notes[reach] }))}
      chosen={value}
      onChange={({ target }) => onChange(REACHES.find((reach) => reach === target.value) ?? value)}
    />
  );
}
