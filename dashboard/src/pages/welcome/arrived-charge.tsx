import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { arrivalQuery } from "./queries.ts";

/** Says how the charge of this page went, once it was sent. */
export function ArrivedCharge({ idempotencyKey }: { idempotencyKey: string }) {
  const place = usePlace();
  const { data } = useSuspenseQuery(arrivalQuery(place, "consume"));
  const request = data.arrived?.request;
  const isOurs = request?.idempotencyKey === idempotencyKey;
  return (
    <p role="status">
      {isOurs && (
        <>
          <Badge tone={request.reason === null ? "good" : "bad"}>
            {request.reason === null ? "Allowed" : "Denied"}
          </Badge>{" "}
          <TextLink
            to="/projects/$projectId/$environment/keys/$idempotencyKey"
            params={{ ...place, idempotencyKey }}
          >
            See what it did
          </TextLink>
        </>
      )}
    </p>
  );
}
