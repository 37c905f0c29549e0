import { transaction } from "../postgres/transaction.ts";
import { revokeApiKey } from "../store/control/api-keys.ts";
import { hashApiKey } from "../words/api-key.ts";
import { withPool } from "./connect.ts";

/** By the key itself, which is what one has in hand when it has leaked. */
export async function revokeKeyCommand(options: {
  databaseUrl: string;
  secret: string;
  print: (line: string) => void;
}): Promise<void> {
  const isRevoked = await withPool(options.databaseUrl, (pool) =>
    transaction(pool, (tx) => revokeApiKey(tx, hashApiKey(options.secret))),
  );
  if (!isRevoked) throw new Error("there is no such key, or it is revoked already");
  options.print(
    `Revoked the key that ends in ${options.secret.slice(-4)}. Every process refuses it within 5 seconds.`,
  );
}
