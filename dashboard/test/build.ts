import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Tests run against the production build, which the service serves. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], {
    cwd: join(import.meta.dirname, "../.."),
    stdio: "inherit",
    // Vitest sets NODE_ENV to "test", which would select React's development build.
    env: { ...process.env, NODE_ENV: "production" },
  });
}
