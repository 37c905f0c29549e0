import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../service/src/postgres/free-port.ts";
import { assert } from "../../../service/src/primitives/assert.ts";
import { makeWebhookSecret, signatureHeader } from "../../../service/src/webhooks/sign.ts";
import { setupManage } from "../../../service/test/manage.ts";
import { ROOT, readPage } from "../../docs/blocks.ts";
import { listen } from "../line.ts";

// Runs the endpoints of the guide against deliveries of a real service.

const GUIDE = "docs/guides/webhooks.md";

type Command = readonly [program: string, ...args: string[]];

type Endpoint = {
  readonly file: string;
  readonly start: (file: string, port: number) => Command;
};

/** By the language of their blocks. */
const ENDPOINTS = {
  js: { file: "endpoint.mjs", start: (file) => [process.execPath, file] },
  python: { file: "endpoint.py", start: (file) => ["python3", file] },
  go: { file: "endpoint.go", start: buildGo },
  php: { file: "endpoint.php", start: (file, port) => ["php", "-S", `127.0.0.1:${port}`, file] },
} satisfies Record<string, Endpoint>;
type Language = keyof typeof ENDPOINTS;
const LANGUAGES: readonly Language[] = ["js", "python", "go", "php"];

/** PHP is not installed in CI. */
const isInstalled = (language: Language): boolean =>
  language !== "php" || spawnSync("php", ["--version"]).error === undefined;

function readBlock(language: Language): string {
  const block = readPage(GUIDE).match(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "m"))?.[1];
  assert(block !== undefined, `the guide has a block in ${language}`);
  return block;
}

/** `go run` would not pass on the signal that stops the endpoint. */
function buildGo(file: string): Command {
  const program = file.replace(/\.go$/, "");
  for (const args of [
    ["vet", file],
    ["build", "-o", program, file],
  ]) {
    const { status, stderr } = spawnSync("go", args, { encoding: "utf8" });
    assert(status === 0, `go ${args[0]}: ${stderr}`);
  }
  return [program];
}

/** Starts the guide's endpoint, and waits until it responds. */
async function startEndpoint(language: Language, secret: string): Promise<string> {
  const { url } = await runEndpoint(language, secret);
  const unsigned = { id: "", timestamp: 0, signature: "", body: "{}" };
  await expect.poll(() => post(url, unsigned).catch(() => null)).toBe(400);
  return url;
}

/** Runs the guide's endpoint in a directory of its own until the test ends. */
async function runEndpoint(
  language: Language,
  secret: string,
): Promise<{ url: string; exited: Promise<unknown> }> {
  const { file, start }: Endpoint = ENDPOINTS[language];
  const directory = mkdtempSync(join(tmpdir(), "purser-endpoint-"));
  const path = join(directory, file);
  writeFileSync(path, readBlock(language));
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  const port = await freePort();
  const [program, ...args] = start(path, port);
  const env = { PATH: process.env["PATH"], PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(program, args, { env, stdio: "ignore" });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await exited;
    rmSync(directory, { recursive: true });
  });
  return { url: `http://127.0.0.1:${port}/`, exited };
}

type Delivery = {
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  readonly body: string;
};

/** A server in front of the endpoint, so that the test sees each delivery. */
async function startRecorder() {
  const deliveries: Delivery[] = [];
  const recorder = { url: "", endpoint: "", deliveries };
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const delivery = {
      id: String(headers["webhook-id"]),
      timestamp: Number(headers["webhook-timestamp"]),
      signature: String(headers["webhook-signature"]),
      body: (await buffer(request)).toString(),
    };
    deliveries.push(delivery);
    response.writeHead(await post(recorder.endpoint, delivery)).end();
  });
  recorder.url = await listen(server);
  return recorder;
}

async function post(url: string, { id, timestamp, signature, body }: Delivery): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature,
  };
  return (await fetch(url, { method: "POST", body, headers })).status;
}

describe.each(LANGUAGES.filter(isInstalled))("the guide's endpoint in %s", (language) => {
  test("accepts deliveries, also while the secret is rotated, and nothing else", async () => {
    const { manage, assign, consume } = await setupManage({ WEBHOOK_TARGETS: "any" });
    const call = async (method: string, path: string, body?: object) => {
      const reply = await manage(method, path, { body });
      expect(reply).toMatchObject({ status: 200 });
      return reply.body;
    };
    const recorder = await startRecorder();
    await call("PUT", "pools/credits", { name: "Credits", lowBalances: [50] });
    const { webhook, secret } = (await call("POST", "webhooks", { url: recorder.url })) as Created;
    recorder.endpoint = await startEndpoint(language, secret);
    const listStates = async () => {
      const { items } = (await call("GET", `webhooks/${webhook.id}/deliveries`)) as Deliveries;
      return items.map(({ type, state }) => `${type} ${state}`).sort();
    };

    await assign("eve");
    await consume({ customerId: "eve", feature: "image.render", quantity: 6, idempotencyKey: "six" });
    await expect.poll(listStates).toEqual(["balance.low delivered"]);
    const real = recorder.deliveries.at(-1);
    assert(real !== undefined, "a notice was delivered");
    expect(JSON.parse(real.body)).toMatchObject({
      type: "balance.low",
      data: { threshold: 50, balance: 40 },
    });

    const now = Math.floor(Date.now() / 1_000);
    const other = signatureHeader([makeWebhookSecret()], real);
    const signed = (change: Partial<Delivery>): Partial<Delivery> => ({
      ...change,
      signature: signatureHeader([secret], { ...real, ...change }),
    });
    const answers: [Partial<Delivery>, number][] = [
      [{}, 204],
      [{ signature: `${other} ${real.signature}` }, 204],
      [signed({ timestamp: now - 290 }), 204],
      [signed({ body: '{"type":"café","data":{}}' }), 204],
      [{ body: real.body.replace("40", "41") }, 400],
      [{ id: "ntc_0" }, 400],
      [{ timestamp: real.timestamp + 1 }, 400],
      [{ timestamp: Number.NaN }, 400],
      [signed({ timestamp: now - 310 }), 400],
      [signed({ timestamp: now + 310 }), 400],
      [{ signature: other }, 400],
      [{ signature: "" }, 400],
      [{ signature: real.signature.slice(0, -4) }, 400],
      [{ signature: real.signature.replace("v1,", "") }, 400],
    ];
    for (const [change, status] of answers)
      expect({ change, status: await post(recorder.endpoint, { ...real, ...change }) }).toEqual({
        change,
        status,
      });

    await call("POST", `webhooks/${webhook.id}/rotate`, { overlapSeconds: 60 });
    await call("POST", `webhooks/${webhook.id}/test`);
    await expect.poll(listStates).toContain("webhook.test delivered");
    expect(recorder.deliveries.at(-1)?.signature.split(" ")).toHaveLength(2);
  });

  test("does not start, or accepts nothing, without a secret", async () => {
    const empty = { id: "ntc_0", timestamp: Math.floor(Date.now() / 1_000), body: "{}" };
    const key = createHmac("sha256", "").update(`${empty.id}.${empty.timestamp}.{}`).digest("base64");
    const { url, exited } = await runEndpoint(language, "");
    const isStopped = exited.then(() => true);
    const forge = () => post(url, { ...empty, signature: `v1,${key}` }).catch(() => null);
    let answer: number | null = null;
    while (answer === null && !(await Promise.race([isStopped, setTimeout(50, false)])))
      answer = await forge();
    expect(answer ?? 400).toBeGreaterThanOrEqual(400);
  });
});

type Created = { webhook: { id: string }; secret: string };
type Deliveries = { items: { type: string; state: string }[] };
