import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Plus, Ticket } from "lucide-react";
import { useState } from "react";
import { useMayActAs } from "../../../frame/use-session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { More } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { tokensQuery } from "../queries.ts";
import { CreateTokenDialog } from "./create-token-dialog.tsx";
import { RevokeTokenDialog } from "./revoke-token-dialog.tsx";
import type { Token } from "./token.ts";
import { TokensTable } from "./tokens-table.tsx";

export function TokensPage() {
  const pages = useSuspenseInfiniteQuery(tokensQuery);
  const tokens = pages.data.pages.flatMap(({ items }) => items);
  const mayManage = useMayActAs("admin");
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const createButton = mayManage && (
    <Button tone="primary" icon={Plus} onClick={() => setCreating(true)}>
      Create token
    </Button>
  );
  return (
    <Page
      title="Management tokens"
      note="Secrets of your automation, such as a billing webhook: a token can call what its role allows here, and manages members and tokens only if it was created to. A token never works on /v1; that takes an API key."
      actions={tokens.length > 0 && createButton}
    >
      <Card flush>
        {tokens.length === 0 ? (
          <EmptyState icon={Ticket} title="No management tokens yet" action={createButton}>
            Nothing automated works for this workspace yet. The first token is often for the webhook that
            assigns plans when a payment arrives.
          </EmptyState>
        ) : (
          <>
            <TokensTable tokens={tokens} onRevoke={mayManage ? setRevoked : null} />
            <More pages={pages} shown={tokens.length} what="tokens" />
          </>
        )}
      </Card>
      {tokens.length > 0 && (
        <Disclosure title="JSON">
          <CodeBlock label="the tokens" code={JSON.stringify(tokens, null, 2)} />
        </Disclosure>
      )}
      {isCreating && <CreateTokenDialog onClose={() => setCreating(false)} />}
      {revoked !== null && <RevokeTokenDialog token={revoked} onClose={() => setRevoked(null)} />}
    </Page>
  );
}
