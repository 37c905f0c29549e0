import type { ClientConfig } from "../config.ts";

/** Options of a command that calls a running service for one environment of a project. */
export type ServiceOptions = {
  readonly client: ClientConfig;
  readonly project?: string | undefined;
  readonly environment: string;
  readonly print: (line: string) => void;
};

/** The path of the environment in the management API. */
export function environmentPath({ project, environment }: ServiceOptions): string {
  if (project === undefined) throw new Error("choose a project with --project ID");
  if (environment !== "test" && environment !== "live")
    throw new Error(`--environment must be test or live, not ${JSON.stringify(environment)}`);
  return `/manage/v1/projects/${encodeURIComponent(project)}/${environment}`;
}

export async function callService<T>(
  options: ServiceOptions,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await send(options, method, path, body);
  return JSON.parse(await response.text());
}

/** Throws an error with the service's message if the request fails. */
export async function send(
  options: ServiceOptions,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<Response> {
  const response = await request(options, { method, path, body });
  if (response.ok) return response;
  const hint = response.status === 404 ? `\n${describeScope(options)}` : "";
  throw new Error(`${describeProblem(response.status, await response.text())}${hint}`);
}

/** Returns the response, whatever its status is. Throws if the service cannot be reached. */
export function request(
  { client: { url, token } }: Pick<ServiceOptions, "client">,
  {
    method,
    path,
    headers = {},
    body,
  }: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  },
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`cannot reach ${url} (PURSER_URL)`, { cause: error });
  });
}

/** The service returns the same response for a missing project and for a project that the token cannot access. */
function describeScope({ project, environment }: ServiceOptions): string {
  return (
    `Tried project ${project}, environment ${environment}. The token may not have access. ` +
    "Set a different project or environment with --project and --environment, or use another token."
  );
}

type Problem = {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
};

function describeProblem(status: number, text: string): string {
  if (!text.startsWith("{")) return `the service returned ${status}`;
  const { code, detail, errors = [] }: Problem = JSON.parse(text);
  const more = errors.slice(1).map(({ field, message }) => `\n  \`${field}\` ${message}`);
  return `${code}: ${detail}${more.join("")}`;
}
