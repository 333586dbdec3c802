export { ConcurrencyLimiter } from './concurrency-limiter';
