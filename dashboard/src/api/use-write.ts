import { type Query, type UseMutationOptions, useMutation } from "@tanstack/react-query";
import {
  type ClientPathsWithMethod,
  createQuerySerializer,
  defaultPathSerializer,
  type MaybeOptionalInit,
  type MethodResponse,
} from "openapi-fetch";
import { answerOf, api } from "./client.ts";
import type { paths } from "./manage.gen.d.ts";
import { queryClient } from "./query-client.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Path<M extends Method> = ClientPathsWithMethod<typeof api, M>;
/** Parameters and body of a call. */
type Request<M extends Method, P extends Path<M>> = NonNullable<MaybeOptionalInit<paths[P], M>>;
type Answer<M extends Method, P extends Path<M>> = MethodResponse<typeof api, M, P>;

type Options<M extends Method, P extends Path<M>> = Omit<
  UseMutationOptions<Answer<M, P>, Error, Request<M, P>>,
  "mutationFn"
> & {
  /** Runs before the request is sent. Throwing here stops the write. */
  before?: () => Promise<unknown>;
};

/** Sends one write. `callOf` returns the same call for display as curl. */
export function useWrite<M extends Method, P extends Path<M>>(
  method: M,
  path: P,
  { before, ...options }: Options<M, P> = {},
) {
  const mutation = useMutation({
    ...options,
    mutationFn: async (request: Request<M, P>) => {
      await before?.();
      return answerOf(send<Answer<M, P>>(method, path, request));
    },
  });
  return { ...mutation, callOf: (request: Request<M, P>) => showCall(method, path, request) };
}

type FirstOf<Rest extends string> = Rest extends `${infer First}/${string}` ? First : Rest;
type NounOf<P> = P extends `/manage/v1/projects/{projectId}/{environment}/${infer Rest}`
  ? FirstOf<Rest>
  : P extends `/manage/v1/projects/{projectId}/${infer Rest}`
    ? FirstOf<Rest>
    : P extends `/manage/v1/${infer Rest}`
      ? FirstOf<Rest>
      : never;
type Noun = NounOf<keyof paths>;

const NOUN = /^\/manage\/v1\/(?:projects\/\{projectId\}\/(?:\{environment\}\/)?)?([^/]+)/;

/** Query filter for all reads of these API resources: "customers" matches all paths under …/customers. */
export function about(...nouns: readonly Noun[]) {
  return {
    predicate: ({ queryKey: [kind, path] }: Query): boolean =>
      kind === "get" && typeof path === "string" && nouns.some((noun) => noun === NOUN.exec(path)?.[1]),
  };
}

/** After a write, refetches visible queries about these resources and marks the others stale. */
export function refresh(...nouns: readonly Noun[]): Promise<void> {
  return queryClient.invalidateQueries(about(...nouns));
}

export type Write<R> = {
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly mutate: (request: R) => void;
  readonly callOf: (request: R) => Call;
};

/** A call to display as curl. */
export type Call = {
  readonly method: string;
  readonly path: string;
  /** Headers other than authorization and content type, for example `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
};

type Parts = {
  params?: { path?: Record<string, unknown>; query?: object; header?: Record<string, string> };
  body?: object;
};

/** A read call to display as curl. */
export function callOf<M extends Method, P extends Path<M>>(
  method: M,
  path: P,
  request: Request<M, P>,
): Call {
  return showCall(method, path, request);
}

function showCall(method: string, path: string, request: object): Call {
  // Every generated request type has these fields.
  const { params = {}, body } = request as Parts;
  const query = createQuerySerializer<object>()({ ...params.query });
  return {
    method: method.toUpperCase(),
    path: `${defaultPathSerializer(path, params.path ?? {})}${query === "" ? "" : `?${query}`}`,
    ...(params.header === undefined ? {} : { headers: params.header }),
    ...(body === undefined ? {} : { body }),
  };
}

/** Accepts any method and path. The functions that call it accept only valid ones. */
const send = api.request as <T>(method: string, path: string, request: object) => Promise<{ data?: T }>;
