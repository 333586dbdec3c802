export { changedAnswer, createdAnswer } from './created-answer';
export { Idempotency } from './idempotency';
export { IdempotencyKey, IdempotentInPhases, SecretAnswer } from './idempotency.interceptor';
export { IdempotencyModule } from './idempotency.module';
export type { Answer } from './idempotency.types';
