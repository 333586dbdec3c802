import { Global, Module } from '@nestjs/common';
import { ExpiredKeys } from './expired-keys';
import { Idempotency } from './idempotency';
import { IdempotencyRepository } from './idempotency.repository';
import { SealedAnswers } from './sealed-answers';

@Global()
@Module({
  providers: [Idempotency, IdempotencyRepository, ExpiredKeys, SealedAnswers],
  exports: [Idempotency, SealedAnswers],
})
export class IdempotencyModule {}
