export { startTracing } from './start-tracing';
export { enterRequestSpan, startRequestSpan, traceIdsOf } from './trace-requests';
export { failWith, keepRun, traced, tracedRun, traceIds } from './tracing';
