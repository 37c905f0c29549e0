import { endApiKeyBySecret } from "../manage/keys/end-api-key.ts";
import { withPool } from "./connect.ts";

/** Takes the key instead of its ID, because after a leak you may know only the key. */
export async function revokeKeyCommand(options: {
  databaseUrl: string;
  secret: string;
  print: (line: string) => void;
}): Promise<void> {
  const actor = { kind: "command", id: "purser revoke-key", requestId: null } as const;
  const isRevoked = await withPool(options.databaseUrl, (pool) =>
    endApiKeyBySecret(pool, actor, options.secret),
  );
  if (!isRevoked) throw new Error("the key does not exist or is already revoked");
  options.print(
    `Revoked the key ending in ${options.secret.slice(-4)}. All processes reject it within 5 seconds.`,
  );
}
