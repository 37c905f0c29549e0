import { skipToken, useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import type { Body, Place } from "../../api/answer.ts";
import { queryClient } from "../../api/query-client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall, CodeBlock, Disclosure } from "../../ui/code-block.tsx";
import { tell } from "../../ui/toast.tsx";
import { KEY_VARIABLE } from "./next-steps.tsx";

const NEW_KEY: Body<"createApiKey"> = { name: "First event", scopes: ["check", "consume", "events"] };

/** A secret is shown when it is made and never again: whoever comes back takes the one they kept, or makes another. */
export function UnknownKey() {
  const place = usePlace();
  const mayMake = useMayActAs("admin");
  const request = { params: { path: place }, body: NEW_KEY };
  const make = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/api-keys", {
    onSuccess: async ({ secret, apiKey }) => {
      keepNewSecret(place, secret);
      tell(
        `Key “${apiKey.name}” is made`,
        `It ends in ${apiKey.lastFour}, and may check, consume and send events.`,
      );
      await refresh("api-keys");
    },
  });
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted">
        Put your {place.environment} key where <code className="font-mono text-ink">{KEY_VARIABLE}</code>{" "}
        stands. Purser keeps no key that it could show again
        {mayMake ? "; if yours is lost, make a new one." : "; an admin can make you one."}
      </p>
      {mayMake && (
        <>
          <div>
            <Button icon={KeyRound} isBusy={make.isPending} onClick={() => make.mutate(request)}>
              {inEnvironment("Make a new key", place.environment)}
            </Button>
          </div>
          <ProblemCallout error={make.error} />
          <ApiCall call={make.callOf(request)} />
        </>
      )}
    </div>
  );
}

/** Of a project that was made just now: not needed yet, and never shown again. */
export function LiveKey({ projectId }: { projectId: string }) {
  const secret = useNewSecret({ projectId, environment: "live" });
  if (secret === null) return null;
  return (
    <Disclosure title="The live key, for later">
      <div className="flex flex-col gap-2">
        <CodeBlock label="the live key" code={secret} />
        <p className="text-caption text-muted">
          Also shown this once. It spends real credits: keep it on your server. You can make another one under
          API keys at any time.
        </p>
      </div>
    </Disclosure>
  );
}

/**
 * A key that was made a moment ago. It stays in this tab's memory until a reload or log-out, so that a look at another page does
 * not lose it; it is written nowhere.
 */
export function keepNewSecret(place: Place, secret: string): void {
  queryClient.setQueryDefaults(["new-secret"], { gcTime: Number.POSITIVE_INFINITY });
  queryClient.setQueryData(keyOf(place), secret);
}

export function useNewSecret(place: Place): string | null {
  const { data } = useQuery<string>({ queryKey: keyOf(place), queryFn: skipToken });
  return data ?? null;
}

const keyOf = ({ projectId, environment }: Place) => ["new-secret", projectId, environment];
