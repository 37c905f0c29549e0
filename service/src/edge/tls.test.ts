import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { setup } from "../../test/harness.ts";

const run = promisify(execFile);
const EVENT = JSON.stringify({ customerId: "c", event: "e", quantity: 1 });

function makeCertificate(): { TLS_CERT_FILE: string; TLS_KEY_FILE: string } {
  const directory = mkdtempSync(join(tmpdir(), "purser-tls-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const name = ["-subj", "/CN=purser", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...kind, ...name, ...files], { stdio: "ignore" });
  return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
}

test("with a certificate the service speaks https to curl", async () => {
  const { service, project, database } = await setup(makeCertificate());
  expect(service.url).toMatch(/^https:/);
  const { stdout } = await run("curl", [
    ...["-sk", "-o", "/dev/null", "-w", "%{http_code} %{scheme}"],
    ...["-H", `authorization: Bearer ${project.test.key.secret}`, "-H", "content-type: application/json"],
    ...["-d", EVENT, `${service.url}/v1/events`],
  ]);
  expect(stdout.toLowerCase()).toBe("200 https");
  expect(await database.count("cell.events")).toBe(1);
});

test("it shows the very certificate it was given", async () => {
  const files = makeCertificate();
  const { service } = await setup(files);
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}/livez`, { ca: readFileSync(files.TLS_CERT_FILE) });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => resolve(incoming.resume().statusCode));
    outgoing.end();
  });
  expect(status).toBe(200);
});

test("plain http on that port is not answered", async () => {
  const { service, project, database } = await setup(makeCertificate());
  const plain = fetch(`${service.url.replace("https", "http")}/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.test.key.secret}`, "content-type": "application/json" },
    body: EVENT,
  });
  const status = await plain.then(
    (reply) => reply.status,
    () => "no answer",
  );
  expect(["no answer", 400]).toContain(status);
  expect(await database.count("cell.events")).toBe(0);
});
