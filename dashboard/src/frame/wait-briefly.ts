/** Time before a page shows its own placeholders. */
const WAIT_MS = 200;

/** For loaders of pages whose parts show their own placeholders: waits for the data, but not long. */
export async function waitBriefly(data: Promise<unknown>): Promise<void> {
  await Promise.race([data, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
}
