import AjvCompiler from "@fastify/ajv-compiler";
import SerializerSelector from "@fastify/fast-json-stringify-compiler";
import type { FastifyServerOptions } from "fastify";

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type Route = { readonly url: string };
type Validate = ((data: unknown) => unknown) & { errors?: unknown };
type Serialize = (data: unknown) => string;
type Build<T> = (...parameters: unknown[]) => (route: Route) => T;

/**
 * Compiles the schemas of a management route when it is first called. There are hundreds of them, most describing errors
 * that they are never used for, and compiling all took most of a second of every start.
 */
export function compileWhenNeeded(): { compilersFactory: Factories } {
  const buildValidator = AjvCompiler() as unknown as Build<Validate>;
  const buildSerializer = SerializerSelector() as unknown as Build<Serialize>;
  const factories = {
    buildValidator: whenNeeded(buildValidator, deferValidation),
    buildSerializer: whenNeeded(buildSerializer, deferSerialization),
  };
  return { compilersFactory: factories as unknown as Factories };
}

/** The runtime's few routes are ready before the first call. */
function whenNeeded<T>(build: Build<T>, defer: (compile: () => T) => T): Build<T> {
  return (...parameters) => {
    const compile = build(...parameters);
    return (route) => (route.url.startsWith("/v1/") ? compile(route) : defer(() => compile(route)));
  };
}

function deferValidation(compile: () => Validate): Validate {
  let compiled: Validate | null = null;
  const validate: Validate = (data) => {
    compiled ??= compile();
    const result = compiled(data);
    validate.errors = compiled.errors;
    return result;
  };
  return validate;
}

function deferSerialization(compile: () => Serialize): Serialize {
  let serialize: Serialize | null = null;
  return (data) => {
    serialize ??= compile();
    return serialize(data);
  };
}
