import { skipToken, useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import type { Body, Scope } from "../../api/answer.ts";
import { queryClient } from "../../api/query-client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall, CodeBlock, Disclosure } from "../../ui/code-block.tsx";
import { notify } from "../../ui/toast.tsx";
import { KEY_VARIABLE } from "./next-steps.tsx";

const NEW_KEY: Body<"createApiKey"> = { name: "First event", scopes: ["check", "consume", "events"] };

/** Secrets are shown once. On a later visit, the user enters their own key or creates a new one. */
export function UnknownKey() {
  const scope = useScope();
  const mayMake = useMayActAs("admin");
  const request = { params: { path: scope }, body: NEW_KEY };
  const make = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/api-keys", {
    onSuccess: async ({ secret, apiKey }) => {
      keepNewSecret(scope, secret);
      notify(
        `Created API key “${apiKey.name}”`,
        `Scopes: check, consume, events. The key ends in ${apiKey.lastFour}.`,
      );
      await refresh("api-keys");
    },
  });
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted">
        Replace <code className="font-mono text-ink">{KEY_VARIABLE}</code> with your {scope.environment} key.{" "}
        {mayMake ? "If you lost the key, create a new one." : "Ask an admin for a key."}
      </p>
      {mayMake && (
        <>
          <div>
            <Button icon={KeyRound} isBusy={make.isPending} onClick={() => make.mutate(request)}>
              {inEnvironment("Create API key", scope.environment)}
            </Button>
          </div>
          <ProblemCallout error={make.error} />
          <ApiCall call={make.callOf(request)} />
        </>
      )}
    </div>
  );
}

/** The live key for a new project, shown once. */
export function LiveKey({ projectId }: { projectId: string }) {
  const secret = useNewSecret({ projectId, environment: "live" });
  if (secret === null) return null;
  return (
    <Disclosure title="Live API key">
      <div className="flex flex-col gap-2">
        <CodeBlock label="the live key" code={secret} />
        <p className="text-caption text-muted">
          Shown only once. Store it with your secrets. You can create more keys under API keys.
        </p>
      </div>
    </Disclosure>
  );
}

/** Keeps a new secret in memory until reload or logout, so that navigation does not lose it. The secret is never stored. */
export function keepNewSecret(scope: Scope, secret: string): void {
  queryClient.setQueryDefaults(["new-secret"], { gcTime: Number.POSITIVE_INFINITY });
  queryClient.setQueryData(keyOf(scope), secret);
}

export function useNewSecret(scope: Scope): string | null {
  const { data } = useQuery<string>({ queryKey: keyOf(scope), queryFn: skipToken });
  return data ?? null;
}

const keyOf = ({ projectId, environment }: Scope) => ["new-secret", projectId, environment];
