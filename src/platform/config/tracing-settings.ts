import { nonEmpty, oneOf, setting } from './setting';

function exporterUrl(text: string): string | undefined {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined;
}

function ratio(text: string): number | undefined {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return value <= 1 ? value : undefined;
}

/** Environment variables that only the packages of OpenTelemetry read. They are checked if traces are exported. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    accepts: 'http://… or https://…',
    meaning: 'Receiver of traces, e.g. `http://collector:4318`, by OTLP over HTTP. Unset: none.',
    isSecret: true,
    parse: exporterUrl,
  }),
  OTEL_SERVICE_NAME: setting({
    fallback: 'billing-engine',
    ...nonEmpty,
    meaning: 'Name of the service in traces.',
  }),
  OTEL_TRACES_SAMPLER: setting({
    fallback: 'parentbased_always_on',
    ...oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    accepts: '`always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`',
    meaning: 'Sampler. With `parentbased_`, the caller’s `traceparent` decides, if there is one.',
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    fallback: '1',
    accepts: '0 to 1, e.g. `0.1`',
    meaning: 'Share of traces that `traceidratio` records.',
    parse: ratio,
  }),
} as const;
