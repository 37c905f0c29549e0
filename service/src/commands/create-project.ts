import { createProject } from "../manage/projects/create-project.ts";
import { openPool } from "../postgres/pool.ts";

export async function createProjectCommand(options: {
  databaseUrl: string;
  name: string;
  print: (line: string) => void;
}): Promise<void> {
  const pool = openPool({
    url: options.databaseUrl,
    name: "purser command",
    sizeMax: 1,
    onIdleError: () => {},
  });
  try {
    const { test, live } = await createProject(pool, options.name);
    options.print(
      `Project ${options.name} is ready. These API keys are shown once; keep them on your server.`,
    );
    options.print(`  test  ${test.key.secret}`);
    options.print(`  live  ${live.key.secret}`);
  } finally {
    await pool.end();
  }
}
