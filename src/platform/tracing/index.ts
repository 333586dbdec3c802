export { startTracing } from './start-tracing';
export { enterRequestSpan, startRequestSpan, traceIdsOf } from './trace-requests';
export { markFailed, keepRun, traced, tracedRun, traceIds } from './tracing';
