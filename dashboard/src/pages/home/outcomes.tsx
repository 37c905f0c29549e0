import { useQuery } from "@tanstack/react-query";
import type { Answer } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { formatCount } from "../../words/numbers.ts";
import { describeReason } from "../../words/reason-words.ts";
import { describeProblem } from "../../words/request-outcome.ts";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { summaryQuery } from "./queries.ts";

type Outcome = Answer<"summarizeRequests">["byOutcome"][number];

/** Why customers were turned away. */
export function Denials() {
  const place = usePlace();
  const query = useQuery(summaryQuery(place));
  return (
    <Part title="Denials by reason" query={query}>
      {({ byOutcome }) => {
        const groups = groupBy(byOutcome, ({ reason }) => reason);
        if (groups.length === 0) return <Nothing>Nobody was denied in the last 24 hours.</Nothing>;
        return (
          <Lines>
            {groups.map(({ key, endpoints, requests }) => (
              <LineOf key={key} end={formatCount(requests)}>
                <TextLink
                  to="/projects/$projectId/$environment/requests"
                  params={place}
                  search={{ reason: key }}
                >
                  {describeReason(key)}
                </TextLink>
                <span className="text-caption text-muted">{endpoints}</span>
              </LineOf>
            ))}
          </Lines>
        );
      }}
    </Part>
  );
}

/** What callers did wrong, and what we did. */
export function Errors() {
  const place = usePlace();
  const query = useQuery(summaryQuery(place));
  return (
    <Part title="Errors by code" query={query}>
      {({ byOutcome }) => {
        const groups = groupBy(byOutcome, ({ code }) => code);
        if (groups.length === 0) return <Nothing>No errors in the last 24 hours.</Nothing>;
        return (
          <Lines>
            {groups.map(({ key, requests }) => (
              <LineOf key={key} end={formatCount(requests)}>
                <TextLink
                  to="/projects/$projectId/$environment/requests"
                  params={place}
                  search={{ code: key }}
                >
                  {describeProblem(key)}
                </TextLink>
                <code className="font-mono text-caption text-muted">{key}</code>
              </LineOf>
            ))}
          </Lines>
        );
      }}
    </Part>
  );
}

type Group = { key: string; endpoints: string; requests: number };

/** Over all endpoints, the most frequent first. */
function groupBy(outcomes: readonly Outcome[], keyOf: (outcome: Outcome) => string | null): Group[] {
  const groups = Map.groupBy(outcomes, keyOf);
  return [...groups]
    .flatMap(([key, same]) =>
      key === null
        ? []
        : {
            key,
            endpoints: [...new Set(same.map(({ endpoint }) => endpoint))].join(", "),
            requests: same.reduce((sum, { requests }) => sum + requests, 0),
          },
    )
    .sort((a, b) => b.requests - a.requests);
}
