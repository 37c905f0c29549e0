import { endApiKeyBySecret } from "../manage/keys/end-api-key.ts";
import { withPool } from "./connect.ts";

/** By the key itself, which is what one has in hand when it has leaked. */
export async function revokeKeyCommand(options: {
  databaseUrl: string;
  secret: string;
  print: (line: string) => void;
}): Promise<void> {
  const actor = { kind: "command", id: "purser revoke-key", requestId: null } as const;
  const isRevoked = await withPool(options.databaseUrl, (pool) =>
    endApiKeyBySecret(pool, actor, options.secret),
  );
  if (!isRevoked) throw new Error("there is no such key, or it is revoked already");
  options.print(
    `Revoked the key that ends in ${options.secret.slice(-4)}. Every process refuses it within 5 seconds.`,
  );
}
