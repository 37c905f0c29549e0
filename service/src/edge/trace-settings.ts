const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type TraceSettings = {
  /** The URL that receives spans as OTLP over HTTP. */
  readonly url: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** Fraction of traces that a ratio sampler keeps, 0 to 1. */
  readonly ratio: number;
};

/** Reads OpenTelemetry's standard variables. Null if no endpoint is set, or if tracing is turned off. */
export function readTraceSettings(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): TraceSettings | null {
  const own = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || null;
  const base = environment["OTEL_EXPORTER_OTLP_ENDPOINT"] || null;
  const url = own ?? (base === null ? null : `${base.replace(/\/+$/, "")}/v1/traces`);
  const isOff =
    environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" ||
    environment["OTEL_TRACES_EXPORTER"] === "none";
  if (url === null || isOff) return null;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    problems.push(
      `${own === null ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} must start with http:// or https://`,
    );
  const name = environment["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const sampler = SAMPLERS.find((known) => known === name);
  if (sampler === undefined) problems.push(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(", ")}`);
  const ratio = Number(environment["OTEL_TRACES_SAMPLER_ARG"] || "1");
  if (sampler?.endsWith("ratio") && !(ratio >= 0 && ratio <= 1))
    problems.push("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1");
  return { url, sampler: sampler ?? "always_off", ratio };
}
