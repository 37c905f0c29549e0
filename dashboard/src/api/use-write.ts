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
/** The parameters and the body of a call. */
type Request<M extends Method, P extends Path<M>> = NonNullable<MaybeOptionalInit<paths[P], M>>;
type Answer<M extends Method, P extends Path<M>> = MethodResponse<typeof api, M, P>;

type Options<M extends Method, P extends Path<M>> = Omit<
  UseMutationOptions<Answer<M, P>, Error, Request<M, P>>,
  "mutationFn"
> & {
  /** Looks once more before anything is sent; what it throws stops the write. */
  before?: () => Promise<unknown>;
};

/** Sends one call that changes something; `callOf` is the very same call, to be shown. */
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

/** Everything that was read about these nouns of the API: of "customers" all that stands below …/customers. */
export function about(...nouns: readonly Noun[]) {
  return {
    predicate: ({ queryKey: [kind, path] }: Query): boolean =>
      kind === "get" && typeof path === "string" && nouns.some((noun) => noun === NOUN.exec(path)?.[1]),
  };
}

/** After a write: what is shown about these nouns is asked for again, and the rest once it is shown. */
export function refresh(...nouns: readonly Noun[]): Promise<void> {
  return queryClient.invalidateQueries(about(...nouns));
}

export type Write<R> = {
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly mutate: (request: R) => void;
  readonly callOf: (request: R) => Call;
};

/** A call as curl shows it. */
export type Call = {
  readonly method: string;
  readonly path: string;
  /** Besides who you are and what the body is: `If-Match`, for one. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
};

type Parts = {
  params?: { path?: Record<string, unknown>; query?: object; header?: Record<string, string> };
  body?: object;
};

/** One that only reads, to be shown. */
export function callOf<M extends Method, P extends Path<M>>(
  method: M,
  path: P,
  request: Request<M, P>,
): Call {
  return showCall(method, path, request);
}

function showCall(method: string, path: string, request: object): Call {
  // Every call of the contract has these.
  const { params = {}, body } = request as Parts;
  const query = createQuerySerializer<object>()({ ...params.query });
  return {
    method: method.toUpperCase(),
    path: `${defaultPathSerializer(path, params.path ?? {})}${query === "" ? "" : `?${query}`}`,
    ...(params.header === undefined ? {} : { headers: params.header }),
    ...(body === undefined ? {} : { body }),
  };
}

/** Typed by its callers: within, method and path are any of the contract's. */
const send = api.request as <T>(method: string, path: string, request: object) => Promise<{ data?: T }>;
