import { CircleCheck } from "lucide-react";
import { formatCount } from "../../format/numbers.ts";
import { joinList } from "../../format/terms.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/code-block.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { type Reach, ReachChoice, SentenceList } from "../plans/plan-parts.tsx";
import {
  type CatalogChange,
  hasNewVersion,
  NOUNS,
  nameOf,
  namesOf,
  sentencesOfChange,
  textOf,
  titleOf,
} from "./catalog-content.ts";

const GROUPS: readonly { kind: CatalogChange["change"]; title: string; tone: BadgeTone }[] = [
  { kind: "create", title: "Created", tone: "good" },
  { kind: "change", title: "Changed", tone: "accent" },
  { kind: "archive", title: "Archived", tone: "warn" },
];

/** Shows what applying a catalog changes. Unchanged items are collapsed. */
export function CatalogChanges({
  changes,
  nothing,
}: {
  changes: readonly CatalogChange[];
  /** Text if nothing changes. */
  nothing: string;
}) {
  const kept = changes.filter(({ change }) => change === "unchanged");
  const groups = GROUPS.map((group) => ({
    ...group,
    members: changes.filter(({ change }) => change === group.kind),
  })).filter(({ members }) => members.length > 0);
  return (
    <>
      {groups.length === 0 && (
        <Card flush>
          <EmptyState icon={CircleCheck} title="No changes">
            {nothing}
          </EmptyState>
        </Card>
      )}
      {groups.map(({ kind, title, tone, members }) => (
        <Card
          key={kind}
          title={
            <span className="flex items-center gap-2">
              {title} <Badge tone={tone}>{members.length}</Badge>
            </span>
          }
          flush
        >
          <ul aria-label={title}>
            {members.map((change) => (
              <ChangeRow key={`${change.noun} ${change.key}`} change={change} changes={changes} />
            ))}
          </ul>
        </Card>
      ))}
      {kept.length > 0 && (
        <Disclosure title={`${formatCount(kept.length)} unchanged`}>
          <ul aria-label="Unchanged" className="flex flex-col gap-1 text-muted">
            {kept.map((change) => (
              <li key={`${change.noun} ${change.key}`}>{titleOf(change)}</li>
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  );
}

function ChangeRow({ change, changes }: { change: CatalogChange; changes: readonly CatalogChange[] }) {
  const planName = (key: string): string => {
    const plan = changes.find((each) => each.noun === "plan" && each.key === key);
    return plan === undefined ? key : (textOf(plan.after, "name") ?? key);
  };
  const sentences = sentencesOfChange(change, namesOf(changes), planName);
  const title = titleOf(change);
  return (
    <li className="flex flex-col gap-2 border-b border-line px-4 py-3 last:border-b-0">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span>
          {change.noun !== "default_plan" && <span className="text-muted">{NOUNS[change.noun]} </span>}
          <span className="font-medium">{nameOf(change)}</span>
        </span>
        {change.noun !== "default_plan" && (
          <span className="font-mono text-caption text-muted wrap-anywhere">{change.key}</span>
        )}
      </p>
      {sentences.length > 0 && <SentenceList label={title} sentences={sentences} />}
    </li>
  );
}

/** Selects who gets new plan versions. Shown only if an existing plan gets a new version. */
export function CatalogReach({
  changes,
  value,
  onChange,
}: {
  changes: readonly CatalogChange[];
  value: Reach;
  onChange: (reach: Reach) => void;
}) {
  const plans = changes.filter(hasNewVersion).map(({ key, after }) => textOf(after, "name") ?? key);
  if (plans.length === 0) return null;
  const who = `Customers on ${joinList(plans)}`;
  return (
    <ReachChoice
      value={value}
      onChange={onChange}
      notes={{
        new_assignments: `${who} keep their version.`,
        next_period: `${who} get the new version at their next renewal.`,
        now: `${who} get the new version now. Credits already used in this period are not returned.`,
      }}
    />
  );
}
