import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The service serves what is built: tests look at what people get. */
export function setup(): void {
  execFileSync("npm", ["run", "--silent", "build"], {
    cwd: join(import.meta.dirname, "../.."),
    stdio: "inherit",
    // Vitest says "test", and React's development build would be tested.
    env: { ...process.env, NODE_ENV: "production" },
  });
}
