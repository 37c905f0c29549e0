import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Creates the production build, which the service serves in tests. Skipped if `DASHBOARD_BUILT=1`. */
export function setup(): void {
  if (process.env["DASHBOARD_BUILT"] === "1") return;
  execFileSync("npm", ["run", "--silent", "build"], {
    cwd: join(import.meta.dirname, "../.."),
    stdio: "inherit",
    // Vitest sets NODE_ENV to "test", which would select React's development build.
    env: { ...process.env, NODE_ENV: "production" },
  });
}
