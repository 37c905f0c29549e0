import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { ApiKeysTable } from "./api-keys-table.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { EndingKeys } from "./ending-keys.tsx";
import { type ApiKey, apiKeysQuery } from "./queries.ts";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";
import { RotateKeyDialog } from "./rotate-key-dialog.tsx";

type Opened = { kind: "create" } | { kind: "rotate" | "revoke"; key: ApiKey };

export function ApiKeysPage() {
  const place = usePlace();
  const pages = useSuspenseInfiniteQuery(apiKeysQuery(place));
  const keys = pages.data.pages.flatMap(({ items }) => items);
  const mayManage = useMayActAs("admin");
  const [opened, setOpened] = useState<Opened | null>(null);
  const createButton = mayManage && (
    <Button tone="primary" icon={Plus} onClick={() => setOpened({ kind: "create" })}>
      Create key
    </Button>
  );
  const close = (): void => setOpened(null);
  return (
    <Page
      title="API keys"
      note={`What your backend calls /v1 with. A key belongs to this project's ${place.environment} environment alone and can spend credits there: keep it on your server, never in a browser.`}
      actions={keys.length > 0 && createButton}
    >
      <EndingKeys keys={keys} onRotate={mayManage ? (key) => setOpened({ kind: "rotate", key }) : null} />
      <Card flush>
        {keys.length === 0 ? (
          <EmptyState icon={KeyRound} title="No API keys yet" action={createButton}>
            Your backend needs one to check, consume and record events in this environment.
          </EmptyState>
        ) : (
          <>
            <ApiKeysTable
              keys={keys}
              actions={
                mayManage
                  ? {
                      onRotate: (key) => setOpened({ kind: "rotate", key }),
                      onRevoke: (key) => setOpened({ kind: "revoke", key }),
                    }
                  : null
              }
            />
            <More pages={pages} shown={keys.length} what="keys" />
          </>
        )}
      </Card>
      {keys.length > 0 && (
        <Disclosure title="JSON">
          <CodeBlock label="the keys as JSON" code={JSON.stringify(keys, null, 2)} />
        </Disclosure>
      )}
      {opened?.kind === "create" && <CreateKeyDialog onClose={close} />}
      {opened?.kind === "rotate" && <RotateKeyDialog apiKey={opened.key} onClose={close} />}
      {opened?.kind === "revoke" && <RevokeKeyDialog apiKey={opened.key} onClose={close} />}
    </Page>
  );
}
