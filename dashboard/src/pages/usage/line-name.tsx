import { usePlace } from "../../frame/use-place.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import type { UsageChange } from "../../ui/usage/usage-filters.tsx";
import type { Series } from "../../ui/usage/usage-series.ts";
import type { UsageAsked, UsageSearch } from "../../words/usage-search.ts";

/** A line's name, and what a click on it looks at next: a feature's customers, a customer's own page, the events behind. */
export function LineName({
  line: { key, name },
  asked,
  search,
  onChange,
}: {
  line: Series;
  asked: UsageAsked;
  search: UsageSearch;
  onChange: (change: UsageChange) => void;
}) {
  const place = usePlace();
  const { groupBy, source, field } = asked;
  if (key === null) return name;
  if (groupBy === "customer") {
    const { customerId: _customer, groupBy: _group, field: _field, ...others } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/usage"
        params={{ ...place, customerId: key }}
        search={others}
      >
        {name}
      </TextLink>
    );
  }
  if (groupBy === "feature" || groupBy === "event") {
    return (
      <LinkButton onClick={() => onChange({ [groupBy]: key, groupBy: "customer" })}>
        {name}
        {name !== key && <code className="ml-2 font-mono text-caption font-normal text-muted">{key}</code>}
      </LinkButton>
    );
  }
  if (groupBy === "metadata" && source === "events") {
    const { event, customerId, range, from, to } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/usage/events"
        params={place}
        search={{
          metadata: `${field}=${key}`,
          ...(event === undefined ? {} : { event }),
          ...(customerId === undefined ? {} : { customerId }),
          ...(from === undefined || to === undefined ? { range: range ?? "30d" } : { from, to }),
        }}
      >
        {name}
      </TextLink>
    );
  }
  if (groupBy === "reason") {
    return (
      <TextLink to="/projects/$projectId/$environment/requests" params={place} search={{ reason: key }}>
        {name}
      </TextLink>
    );
  }
  return name;
}
