import { type Operation, operation } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { describeInstallation, Installation } from "./describe-installation.ts";

/** What whoever runs Purser looks at. Whether to send it traffic is asked at `/livez` and `/readyz` instead. */
export function healthOperations(parts: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: "/manage/v1/health",
      access: { role: "viewer", in: "workspace" },
      id: "readHealth",
      noun: "Workspace",
      summary: "Read the installation's health",
      description:
        "Releases, migrations, sizes and the database's clock. It is about the whole installation, of which the workspace may be one " +
        "of several, and about the process that answers, of which there may be others. It reads the server's own catalog and no " +
        "data: a few milliseconds, however much there is.",
      answer: Installation,
      codes: [],
      handle: () => describeInstallation(parts),
    }),
  ];
}
