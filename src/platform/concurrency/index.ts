export { BackgroundTurns } from './background-turns';
export { Batcher, type BatchOutcome, nextTurn } from './batcher';
export { CallScope } from './call-scope';
export { ConcurrencyLimiter } from './concurrency-limiter';
export { ShortTurns } from './short-turns';
