import { statement, type Tx } from "../../postgres/statement.ts";

const FIND = statement(
  "devices.find",
  `
  select 1
  from control.devices as d
  join control.members as m on m.id = d.member_id
  where d.token_hash = $1
    and d.expires_at > clock_timestamp()
    and m.email = $2
    and m.removed_at is null`,
);

/** Whether this browser has logged in as the member with this email before. */
export async function isDeviceOf(tx: Tx, device: { tokenHash: Buffer; email: string }): Promise<boolean> {
  const { rows } = await tx.run(FIND, [device.tokenHash, device.email]);
  return rows.length > 0;
}

const EXISTS = statement(
  "devices.exists",
  `
  select 1
  from control.devices
  where token_hash = $1
    and expires_at > clock_timestamp()
  limit 1`,
);

/** Whether this browser has logged in as any member before. */
export async function isDevice(tx: Tx, tokenHash: Buffer): Promise<boolean> {
  const { rows } = await tx.run(EXISTS, [tokenHash]);
  return rows.length > 0;
}

const UPSERT = statement(
  "devices.upsert",
  `
  insert into control.devices (token_hash, member_id, expires_at)
  values ($1, $2, clock_timestamp() + make_interval(secs => $3))
  on conflict (token_hash, member_id) do update
  set created_at = excluded.created_at,
    expires_at = excluded.expires_at`,
);

export async function upsertDevice(
  tx: Tx,
  device: { tokenHash: Buffer; memberId: number; seconds: number },
): Promise<void> {
  await tx.run(UPSERT, [device.tokenHash, device.memberId, device.seconds]);
}

const DELETE_BEYOND = statement(
  "devices.delete_beyond",
  `
  delete from control.devices as d
  where d.member_id = $1
    and (
      d.expires_at <= clock_timestamp()
      or d.token_hash not in (
        select n.token_hash
        from control.devices as n
        where n.member_id = $1
        order by n.created_at desc
        limit $2
      )
    )`,
);

/** Deletes the member's expired devices. Of the other devices, keeps only the newest `countMax`. */
export async function deleteDevicesBeyond(tx: Tx, memberId: number, countMax: number): Promise<void> {
  await tx.run(DELETE_BEYOND, [memberId, countMax]);
}

const DELETE_OTHERS = statement(
  "devices.delete_others",
  `
  delete from control.devices
  where member_id = $1
    and ($2::bytea is null or token_hash <> $2::bytea)`,
);

/** Deletes the member's devices, but keeps `except`. Returns how many devices it deleted. */
export async function deleteDevicesOf(
  tx: Tx,
  { memberId, except }: { memberId: number; except: Buffer | null },
): Promise<number> {
  const { rowCount } = await tx.run(DELETE_OTHERS, [memberId, except]);
  return rowCount;
}
