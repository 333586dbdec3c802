import { AsyncResource } from 'node:async_hooks';
import type { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import { PRODUCT } from '../product';
import { type SpanParent, traceWith } from './tracing';

/** Longest time that a stopping process waits for the export of its last spans. */
const LAST_EXPORT_MS = 2_000;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
};

/**
 * Switches tracing on. Loads the OpenTelemetry packages only here, so that a process without tracing does not load
 * them. The packages read the standard variables `OTEL_…` themselves. They keep at most 2,048 spans in memory, drop
 * further spans, and log failed exports.
 * @returns a function that exports the last spans and switches tracing off
 */
export async function startTracing(logger: Logger): Promise<() => Promise<void>> {
  const [core, resources, sdk, { OTLPTraceExporter }, http] = await Promise.all([
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/otlp-exporter-base/node-http'),
  ]);
  core.setGlobalErrorHandler((error) => {
    logger.warn({ context: 'tracing', err: error }, 'spans were not exported');
  });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the exporter itself reads its variables with it
  const { agentFactory, timeoutMillis } = http.convertLegacyHttpOptions({}, 'TRACES', '', {});
  const exporter = new OTLPTraceExporter({
    httpAgentOptions: async (protocol) => limited(await agentFactory(protocol), timeoutMillis),
  });
  const processor = new sdk.BatchSpanProcessor(exporter);
  // The end of a span starts the timer of the next export. Without this binding, that export would run in the
  // context of the span, and its log lines would name the trace of the span.
  processor.onEnd = AsyncResource.bind(processor.onEnd.bind(processor), 'tracing');
  const { name, version } = PRODUCT;
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': name, 'service.version': version })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer(name, version);
  const propagator = new core.W3CTraceContextPropagator();
  const contextOf = (parent: SpanParent): Context => {
    if (parent === null) return ROOT_CONTEXT;
    return 'spanContext' in parent
      ? trace.setSpan(ROOT_CONTEXT, parent as Span)
      : propagator.extract(ROOT_CONTEXT, parent, defaultTextMapGetter);
  };
  traceWith(({ name: spanName, kind = 'internal' as const, attributes = {} }, parent) =>
    tracer.startSpan(spanName, { kind: KINDS[kind], attributes }, contextOf(parent)),
  );
  return async () => {
    traceWith(null);
    await Promise.race([
      provider.shutdown().catch(() => undefined),
      sleep(LAST_EXPORT_MS, undefined, { ref: false }),
    ]);
  };
}

/**
 * Makes an agent use each connection for one request, and for at most `timeoutMs`. The exporter itself only limits the
 * time without a byte, so a receiver that never ends its answer would keep an export running. The exporter stops
 * exporting when 30 exports are running.
 */
function limited(agent: Agent, timeoutMs: number): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...parameters) => {
    const socket = connect(...parameters);
    const timer = setTimeout(() => socket?.destroy(), timeoutMs);
    timer.unref();
    socket?.once('close', () => {
      clearTimeout(timer);
    });
    return socket;
  };
  agent.keepSocketAlive = () => false;
  return agent;
}
