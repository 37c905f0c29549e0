import { describe, expect, test } from "vitest";
import { CUSTOMER, FEATURE, openChat } from "../chat.ts";
import { CLIENTS, runClient } from "./clients.ts";

/** Driver arguments for a stream of this many parts, in holds of ten. The work fails after `failAfter` parts. */
const streamOf = ({ parts, failAfter = parts }: { parts: number; failAfter?: number }) => [
  "stream",
  CUSTOMER,
  FEATURE,
  "test:stream_1",
  "10",
  String(parts),
  String(failAfter),
];

const countLines = (text: string): number => text.split("\n").length - 1;

describe.each(CLIENTS)("a stream with %s", (client) => {
  test("stops at the last part that the customer can pay for", async () => {
    const { env, readBooks } = await openChat(37);
    const { code, stdout, stderr } = await runClient(client, env, streamOf({ parts: 500 }));
    expect({ code, parts: countLines(stdout) }).toEqual({ code: 0, parts: 37 });
    expect(JSON.parse(stderr)).toMatchObject({ status: "settled", creditsCharged: 37 });
    const books = { balance: 0, charged: [37], uncovered: 0, ended: ["settled"], open: 0 };
    expect(await readBooks()).toEqual(books);
  });

  test("is settled with the used parts if the work fails, even if the connection breaks", async () => {
    const { env, line, readBooks } = await openChat(100);
    line.next.push("cut_after", "cut", "cut_after", "cut_within");
    const { code, stdout } = await runClient(client, env, streamOf({ parts: 500, failAfter: 12 }));
    expect({ isFailed: code !== 0, parts: countLines(stdout) }).toEqual({ isFailed: true, parts: 12 });
    expect(await readBooks()).toMatchObject({ balance: 88, charged: [12], ended: ["settled"], open: 0 });
  });

  test("is released if the work fails before the first part", async () => {
    const { env, readBooks } = await openChat(100);
    const { code, stdout } = await runClient(client, env, streamOf({ parts: 500, failAfter: 0 }));
    expect({ isFailed: code !== 0, stdout }).toEqual({ isFailed: true, stdout: "" });
    expect(await readBooks()).toMatchObject({ balance: 100, charged: [], ended: ["released"], open: 0 });
  });

  test("does not start without credits", async () => {
    const { env, consume, readBooks } = await openChat(1);
    await consume({ customerId: CUSTOMER, feature: FEATURE, idempotencyKey: "test:last" });
    const { stdout, stderr } = await runClient(client, env, streamOf({ parts: 500 }));
    expect({ stdout, denial: JSON.parse(stderr) }).toMatchObject({ stdout: "", denial: { allowed: false } });
    expect(await readBooks()).toMatchObject({ balance: 0, charged: [1], ended: [], open: 0 });
  });
});
