import { DEVICE_SECONDS } from "../../edge/session-cookie.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { hashSecret, makeSecret } from "../../primitives/secret.ts";
import { deleteDevicesBeyond, isDevice, isDeviceOf, upsertDevice } from "../../store/control/devices.ts";

const DEVICES_MAX = 20;

/** The device's hash if this browser has logged in as this member before, otherwise null. */
export async function findKnownDevice(
  control: Pool,
  { token, email }: { token: string | null; email: string },
): Promise<string | null> {
  if (token === null) return null;
  const tokenHash = hashSecret(token);
  const isKnown = await single(control, (tx) => isDeviceOf(tx, { tokenHash, email }));
  return isKnown ? tokenHash.toString("hex") : null;
}

/** Called after a log-in. A browser keeps its token, which several members may share; an unknown token is replaced. */
export function rememberDevice(
  control: Pool,
  { memberId, shown }: { memberId: number; shown: string | null },
): Promise<string> {
  return transaction(control, async (tx) => {
    const isOurs = shown !== null && (await isDevice(tx, hashSecret(shown)));
    const token = isOurs ? shown : makeSecret("pur_device_");
    await upsertDevice(tx, { tokenHash: hashSecret(token), memberId, seconds: DEVICE_SECONDS });
    await deleteDevicesBeyond(tx, memberId, DEVICES_MAX);
    return token;
  });
}
