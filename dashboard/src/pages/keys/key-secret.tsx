import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { keyCall } from "./key-call.ts";
import { type ApiKey, anyFeatureQuery } from "./queries.ts";

export function KeySecret({
  apiKey,
  secret,
  note,
  onClose,
}: {
  apiKey: ApiKey;
  secret: string;
  note?: ReactNode;
  onClose: () => void;
}) {
  const { data: feature = null } = useQuery(anyFeatureQuery(usePlace()));
  return (
    <SecretOnce
      title={`API key ${apiKey.name}`}
      note={note}
      what="the key"
      secret={secret}
      tryIt={keyCall(apiKey, { origin: window.location.origin, secret, feature })}
      onClose={onClose}
    />
  );
}
