import { createProject } from "../manage/projects/create-project.ts";
import { withPool } from "./connect.ts";

export async function createProjectCommand(options: {
  databaseUrl: string;
  name: string;
  print: (line: string) => void;
}): Promise<void> {
  const { projectId, test, live } = await withPool(options.databaseUrl, (pool) =>
    createProject(pool, options.name),
  );
  options.print(
    `Created project ${projectId} (${options.name}). These API keys are shown only once; keep them on your server.`,
  );
  options.print(`  test  ${test.key.secret}`);
  options.print(`  live  ${live.key.secret}`);
}
