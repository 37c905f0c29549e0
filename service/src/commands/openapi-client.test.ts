import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const RUNTIME = join(ROOT, "openapi/runtime.json");
const { resolve } = createRequire(join(ROOT, "dashboard/package.json"));
const packageOf = (name: string): string => dirname(resolve(`${name}/package.json`));

const CLIENT = `import createClient from "openapi-fetch";
import type { components, paths } from "./runtime.ts";

type ConsumeRequest = components["schemas"]["ConsumeRequest"];
type ConsumeResponse = components["schemas"]["ConsumeResponse"];
type Problem = components["schemas"]["Problem"];

export async function charge(baseUrl: string, request: ConsumeRequest): Promise<ConsumeResponse> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: "Bearer pur_test_1" } });
  const { data, error } = await client.POST("/v1/consume", { body: request });
  if (error !== undefined) {
    const problem: Problem = error;
    // The status narrows the type: only a 409 has a conflict.
    if (error.status === 409) throw new Error(\`\${error.code}: \${error.conflict}\`);
    throw new Error(\`\${problem.code} in \${problem.requestId}\`);
  }
  return data;
}

export const request: ConsumeRequest = { customerId: "customer_42", feature: "image.generate", idempotencyKey: "job-7" };
`;

function run(command: string, parameters: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...parameters], {
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test("the client generated from the runtime OpenAPI document has named types and type-checks", () => {
  const directory = mkdtempSync(join(tmpdir(), "purser-client-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  const generate = join(packageOf("openapi-typescript"), "bin/cli.js");
  expect(run(generate, [RUNTIME, "-o", join(directory, "runtime.ts")])).toMatchObject({ status: 0 });
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, target: "es2024", module: "esnext" },
    ...{ moduleResolution: "bundler", allowImportingTsExtensions: true, types: [], lib: ["es2024", "dom"] },
    paths: { "openapi-fetch": [packageOf("openapi-fetch")] },
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["client.ts"] }));
  write("client.ts", CLIENT);
  const compile = (): { status: number | null; output: string } =>
    run(join(packageOf("typescript"), "bin/tsc"), ["-p", directory]);
  expect(compile()).toEqual({ status: 0, output: "" });
  write("client.ts", CLIENT.replace('feature: "image.generate"', 'feture: "image.generate"'));
  expect(compile().output).toContain("'feture' does not exist");
  write("client.ts", CLIENT.replace("error.status === 409", "error.status === 404"));
  expect(compile().output).toContain("'conflict' does not exist");
});
