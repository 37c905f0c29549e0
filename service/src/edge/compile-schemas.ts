import AjvCompiler from "@fastify/ajv-compiler";
import SerializerSelector from "@fastify/fast-json-stringify-compiler";
import type { FastifyServerOptions } from "fastify";

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type Route = { readonly url: string; readonly schema: unknown };
type Validate = ((data: unknown) => unknown) & { errors?: unknown };
type Serialize = (data: unknown) => string;
type Build<T> = (...parameters: unknown[]) => (route: Route) => T;

/** Limits for a small value. All errors are listed only for small values. */
const VALUES_MAX = 100;
const TEXT_LENGTH_MAX = 4_096;

/**
 * Compiles a management route's schemas at its first call. Compiling all schemas took most of a second at every start. Most
 * schemas describe error responses and are never used.
 */
export function compileWhenNeeded(): { compilersFactory: Factories } {
  const buildValidator = listErrorsOfSmallValues(
    once(AjvCompiler() as unknown as Build<Validate>, VALIDATORS),
  );
  const buildSerializer = once(SerializerSelector() as unknown as Build<Serialize>, SERIALIZERS);
  const factories = {
    buildValidator: whenNeeded(buildValidator, deferValidation),
    buildSerializer: whenNeeded(buildSerializer, deferSerialization),
  };
  return { compilersFactory: factories as unknown as Factories };
}

const VALIDATORS = new Map<string, Validate>();
const SERIALIZERS = new Map<string, Serialize>();

/** Compiles equal schemas once per process. Tests start hundreds of services, and compiling took a third of each start. */
function once<T>(build: Build<T>, compiled: Map<string, T>): Build<T> {
  return (...parameters) => {
    // Created only for a new schema, because creating the compiler is slow.
    let compile: ReturnType<Build<T>> | null = null;
    const options = JSON.stringify(parameters);
    return (route) => {
      const key = `${options} ${JSON.stringify(route.schema)}`;
      const known = compiled.get(key);
      if (known !== undefined) return known;
      compile ??= build(...parameters);
      const made = compile(route);
      compiled.set(key, made);
      return made;
    };
  };
}

/**
 * Stops at the first error unless the value is small. Otherwise, 30,000 invalid elements would produce 30,000 errors, and patterns
 * would run on strings that exceed their maximum length.
 */
function listErrorsOfSmallValues(build: Build<Validate>): Build<Validate> {
  return (schemas, options) => {
    const compileFirst = build(schemas, withOptions(options, { allErrors: false }));
    const compileAll = build(schemas, withOptions(options, { allErrors: true }));
    return (route) => {
      const findFirst = compileFirst(route);
      const findAll = deferValidation(() => compileAll(route));
      const validate: Validate = (data) => {
        if (findFirst(data) === true) return true;
        const isListed = isSmall(data);
        if (isListed) findAll(data);
        validate.errors = isListed ? findAll.errors : findFirst.errors;
        return false;
      };
      return validate;
    };
  };
}

function withOptions(options: unknown, more: object): object {
  const { customOptions, ...rest } = options as { readonly customOptions: object };
  return { ...rest, customOptions: { ...customOptions, ...more } };
}

/** Whether the value is within both limits. Stops counting as soon as a limit is exceeded. */
function isSmall(data: unknown): boolean {
  const rest: unknown[] = [data];
  let values = 0;
  let textLength = 0;
  for (let next = rest.pop(); rest.length <= VALUES_MAX; next = rest.pop()) {
    if (next === undefined) return true;
    values += 1;
    if (typeof next === "string") textLength += next.length;
    if (values > VALUES_MAX || textLength > TEXT_LENGTH_MAX) return false;
    if (typeof next !== "object" || next === null) continue;
    for (const name in next) {
      textLength += name.length;
      rest.push((next as Readonly<Record<string, unknown>>)[name]);
      if (rest.length > VALUES_MAX) break;
    }
  }
  return false;
}

/** Defers compilation to the first use, except for the few runtime routes, which are compiled at start. */
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
