import { readFileSync } from "node:fs";
import { join } from "node:path";

const manifest: { version: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
);

export const VERSION = manifest.version;
