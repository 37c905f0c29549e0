import { expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness.ts";
import { shortHash } from "../../entitlement/fingerprint.ts";
import { Session } from "../../postgres/session.ts";
import type { IdempotencyKey, ProjectId, Quantity } from "../../primitives/brand.ts";
import { brandAs, type CustomerId, type EnvironmentId, type EventKey } from "../../primitives/brand.ts";
import { CatalogCache } from "../../store/cell/catalogs.ts";
import { Lane } from "./lane.ts";
import type { RuntimeRequest } from "./request.ts";

/** Longer than the lane's `idle_in_transaction_session_timeout`. */
const STALL_MS = 2_600;

test("a batch sent during a commit is not committed on another connection", { retry: 3 }, async () => {
  const database = await createDatabase();
  const sessions: Session[] = [];
  const failures: string[] = [];
  const lane = new Lane({
    openSession: async (connectTimeoutMs) => {
      const session = await Session.open({ url: database.serviceUrl, name: "lane", connectTimeoutMs });
      sessions.push(session);
      return session;
    },
    catalogs: new CatalogCache(),
    idempotencyDays: null,
    queueLengthMax: 2_000,
    blocking: null,
    onBatch: () => {},
    onFailure: ({ kind }) => failures.push(kind),
  });
  await lane.submit(request("warm"));
  const [first] = sessions;
  if (first === undefined) throw new Error("the lane has a session");

  // The process blocks right after sending one batch's commit and the next batch's first round trip. When it continues, both
  // responses and the end of the connection are waiting to be read.
  const commit = first.commit.bind(first);
  first.commit = () => {
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS));
    first.commit = commit;
    return commit();
  };
  const stalled = lane.submit(request("stalled"));
  const behind = new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve(lane.submit(request("behind")))));
  });
  expect(await stalled).toMatchObject({ kind: "answered", replayed: false });
  const outcome = await behind;
  await lane.close();

  // Without its transaction, the commit would have returned only a warning, and the outcome would be "unknown".
  expect(failures.filter((kind) => kind !== "lost")).toEqual([]);
  expect(await eventsWithoutKey(database)).toBe(0);
  // On a busy machine the batch may be sent too late and rejected because of its age. The test is then repeated.
  expect(outcome).toMatchObject({ kind: "answered", replayed: false });
  expect(sessions).toHaveLength(2);
  expect(await database.count("cell.events")).toBe(3);
});

function request(key: string): RuntimeRequest {
  return {
    endpoint: "events",
    projectId: brandAs<ProjectId>(1),
    environmentId: brandAs<EnvironmentId>(1),
    customerId: brandAs<CustomerId>(`customer of ${key}`),
    requestId: key,
    span: null,
    keyed: {
      projectId: brandAs<ProjectId>(1),
      key: brandAs<IdempotencyKey>(key),
      keyHash: shortHash(key),
      fingerprint: shortHash(key),
    },
    event: {
      customerId: brandAs<CustomerId>(`customer of ${key}`),
      event: brandAs<EventKey>("tokens"),
      quantity: brandAs<Quantity>(1),
      memberId: null,
      metadata: null,
      timestamp: null,
    },
    metadataLimits: { bytesMax: 100, keysMax: 10, depthMax: 2 },
  };
}

async function eventsWithoutKey(database: TestDatabase): Promise<number> {
  return database.count(
    "cell.events as e",
    "not exists (select from cell.keyed_requests as k where k.subject_id = e.id)",
  );
}
