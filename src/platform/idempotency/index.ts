export { Idempotency } from './idempotency';
export { IdempotencyKey, IdempotentInPhases } from './idempotency.interceptor';
export { IdempotencyModule } from './idempotency.module';
export type { Answer } from './idempotency.types';
