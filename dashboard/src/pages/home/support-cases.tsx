import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { isDemoQuery, SUPPORT_CASES } from "./demo.ts";

/** Something to solve, where the demo is. */
export function SupportCases() {
  const place = usePlace();
  const { data: isDemo } = useQuery(isDemoQuery(place));
  if (isDemo !== true) return null;
  return (
    <Card
      flush
      title="Solve these"
      note="This is the demo, and three of its customers have written. What happened, and how do you settle it?"
    >
      <ul className="grid divide-y divide-line lg:grid-cols-3 lg:divide-x lg:divide-y-0">
        {SUPPORT_CASES.map(({ customerId, from, question }) => (
          <li key={customerId} className="flex flex-col gap-2 p-4">
            <blockquote className="wrap-anywhere">“{question}”</blockquote>
            <p className="mt-auto">
              <TextLink
                to="/projects/$projectId/$environment/customers/$customerId"
                params={{ ...place, customerId }}
              >
                {from}
              </TextLink>
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
