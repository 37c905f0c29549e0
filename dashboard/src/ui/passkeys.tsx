import { Download } from "lucide-react";
import { Button } from "./button.tsx";
import { Callout } from "./callout.tsx";
import { CodeBlock } from "./code-block.tsx";
import { saveFile } from "./save-file.ts";

/** New recovery codes, which are shown once. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const text = codes.join("\n");
  return (
    <div className="flex flex-col gap-4">
      <Callout tone="warn" title="Save these codes now">
        They are shown only once. Each code works once, in place of a lost passkey.
      </Callout>
      <CodeBlock label="the recovery codes" code={text} />
      <div>
        <Button
          icon={Download}
          onClick={() => saveFile("purser-recovery-codes.txt", `${text}\n`, "text/plain")}
        >
          Download codes
        </Button>
      </div>
    </div>
  );
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Explains why this address cannot use passkeys, with a link to an address that can. */
export function PasskeysUnavailable({ origin = null }: { origin?: string | null }) {
  const { hostname, port, pathname, protocol } = window.location;
  const local = LOOPBACK.test(hostname) ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : null;
  const other = origin ?? local;
  return (
    <Callout tone="warn" title={`Passkeys do not work at ${hostname}`}>
      {other === null ? (
        <p>
          Passkeys belong to a host name. Set <code className="font-mono">PUBLIC_URL</code> on the server.
        </p>
      ) : (
        <p>
          Passkeys belong to a host name.{" "}
          <a href={`${other}${pathname}`} className="font-medium text-accent underline underline-offset-2">
            Open this page at {new URL(other).host}
          </a>
        </p>
      )}
    </Callout>
  );
}
