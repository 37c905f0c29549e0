import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { sendFile } from "../../../test/imports.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

const DRIP_MS = 200;

/** Sends a slow upload, one byte at a time, over a separate socket. Resolves with the response. */
async function drip(managed: Managed, name: string): Promise<string> {
  const answer = await dripOnce(managed, name);
  // Other imports in this test also count toward the limit, so a rejected upload is retried.
  return answer.startsWith("HTTP/1.1 503") ? drip(managed, name) : answer;
}

function dripOnce({ service, here, tokens }: Managed, name: string): Promise<string> {
  const { hostname, port, host } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST ${here}/imports?name=${name} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tokens.operator}\r\n` +
      "content-type: text/csv\r\ncontent-length: 1000000\r\n\r\ncustomerId,name\ndrip,",
  );
  const timer = setInterval(() => socket.write("x"), DRIP_MS);
  onTestFinished(() => clearInterval(timer));
  return new Promise((resolve, reject) => {
    socket.once("data", (chunk) => resolve(chunk.toString()));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed without a response")));
  });
}

test("slow uploads are stopped and do not block other environments", async () => {
  const managed = await setupManage();
  const csv = "customerId,name\nbert,Bert\n";
  const slow = [drip(managed, "a"), drip(managed, "b")];
  // Both uploads are running when a third one is rejected.
  await expect.poll(async () => (await sendFile(managed, csv)).status, { interval: 300 }).toBe(503);
  const live = { ...managed, here: managed.here.replace(/test$/, "live") };
  expect(await sendFile(live, csv)).toMatchObject({ status: 200, body: { created: 1 } });

  for (const answer of await Promise.all(slow)) {
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"outcome":"stopped"');
    expect(answer).toContain('"code":"too_slow"');
  }
  expect(await sendFile(managed, csv)).toMatchObject({ status: 200, body: { failed: 0 } });
});

test("slow uploads do not block other calls for the same project", async () => {
  const managed = await setupManage();
  const live = { ...managed, here: managed.here.replace(/test$/, "live") };
  for (const each of [managed, live]) for (const name of ["a", "b"]) drip(each, name).catch(() => {});
  // All four uploads are running when a fifth one is rejected.
  for (const each of [managed, live])
    await expect
      .poll(async () => (await sendFile(each, "customerId\nbert\n")).status, { interval: 300 })
      .toBe(503);
  expect((await managed.manage("GET", "customers")).status).toBe(200);
});
