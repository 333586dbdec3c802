import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import { CallScope } from '../concurrency';
import { PlannedRollback, ProblemError } from '../errors';
import { DueRun } from './due-run';

export interface SpanOptions {
  readonly name: string;
  /** `server` for a span that answers a request, `client` for one that sends a request. */
  readonly kind?: 'server' | 'client';
  readonly attributes?: Attributes;
  /** Begins a new trace instead of continuing the trace of the current call. */
  readonly isRoot?: true;
}

/** Parent of a span: a span of this process, or the headers of a request. Null begins a trace. */
export type SpanParent = Span | Readonly<Record<string, string | string[] | undefined>> | null;

export type StartSpan = (options: SpanOptions, parent: SpanParent) => Span;

interface CurrentSpan {
  readonly span: Span;
  readonly run: DueRun | null;
}

/** Standard value of `error.type` for an error without a code or name. */
const OTHER_ERROR = '_OTHER';

const current = new CallScope<CurrentSpan>();

/** Starts spans; null while tracing is off. All Nest applications of the process share it, as they share the log. */
let start: StartSpan | null = null;

export function traceWith(startSpan: StartSpan | null): void {
  start = startSpan;
}

export function isTracing(): boolean {
  return start !== null;
}

/** Starts a span, which the caller must end. Returns null while tracing is off. */
export function startSpan(options: SpanOptions, parent: SpanParent): Span | null {
  return start === null ? null : start(options, parent);
}

/** Makes a span the current span for everything that the callback starts. Returns a function that ends this effect. */
export function within(span: Span, callback: () => void): () => void {
  return current.start({ span, run: null }, callback);
}

/** Runs work in a span of its own. While tracing is off, the work gets null instead of a span. */
export function traced<Result>(
  options: SpanOptions,
  work: (span: Span | null) => Promise<Result>,
): Promise<Result> {
  if (start === null) return work(null);
  const outer = options.isRoot === true ? undefined : current.current;
  const span = start(options, outer?.span ?? null);
  // A run that calls another service is always exported, whatever the answer.
  if (options.kind === 'client') outer?.run?.exportSpans();
  return runIn({ span, run: outer?.run ?? null }, () => work(span));
}

/**
 * Runs due work in a span that begins a trace.
 * @param runDue returns true if more work may be due. Such a run has processed something, so its spans are exported.
 */
export function tracedRun(name: string, runDue: () => Promise<boolean>): Promise<boolean> {
  if (start === null) return runDue();
  const run = new DueRun();
  return runIn({ span: start({ name }, null), run }, async () => {
    try {
      const hasDone = await runDue();
      if (hasDone) run.exportSpans();
      return hasDone;
    } catch (error) {
      run.exportSpans();
      throw error;
    }
  });
}

/** Exports the spans of the current run of due work, if any. Call it when the run has changed something. */
export function keepRun(): void {
  current.current?.run?.exportSpans();
}

async function runIn<Result>(traced: CurrentSpan, work: () => Promise<Result>): Promise<Result> {
  const { span, run } = traced;
  try {
    return await current.run(traced, work);
  } catch (error) {
    recordFailure(span, error);
    throw error;
  } finally {
    if (run === null) span.end();
    else run.end((at) => span.end(at));
  }
}

/** Records the kind of an error, not its message, which may name a person. A refused request is not a failure. */
function recordFailure(span: Span, error: unknown): void {
  if (error instanceof PlannedRollback) return;
  if (error instanceof ProblemError) {
    span.setAttribute('error.type', error.definition.code);
    return;
  }
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  const type = [code, name].find((value) => typeof value === 'string');
  markFailed(span, type ?? OTHER_ERROR);
}

export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export interface TraceIds {
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** Returns the ids of a span for a log line; by default those of the current span. */
export function traceIds(span: Span | undefined = current.current?.span): TraceIds {
  if (span === undefined) return {};
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}
