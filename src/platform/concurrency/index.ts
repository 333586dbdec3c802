export { Batcher, type BatchOutcome } from './batcher';
export { ConcurrencyLimiter } from './concurrency-limiter';
