import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Callout } from "./callout.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";

/** Shows a new secret once. */
export function SecretOnce({
  title,
  note,
  what,
  secret,
  use = "Purser stores only a hash.",
  tryIt,
  onClose,
}: {
  title: string;
  note?: ReactNode;
  /** "the token", "the key" */
  what: string;
  secret: string;
  /** How the secret is stored or used. */
  use?: ReactNode;
  /** A complete curl call with this secret. */
  tryIt?: string;
  onClose: () => void;
}) {
  return (
    <Dialog isOpen onClose={onClose} title={title} note={note} isSticky isWide>
      <Callout tone="warn" title="Copy the secret now">
        It is shown only once. {use}
      </Callout>
      <CodeBlock label={what} code={secret} />
      {tryIt !== undefined && (
        <div className="flex flex-col gap-1">
          <p className="text-form font-medium">Try it</p>
          <CodeBlock label="the call" code={tryIt} />
        </div>
      )}
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          I have stored it
        </Button>
      </DialogActions>
    </Dialog>
  );
}
