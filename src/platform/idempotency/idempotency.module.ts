import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExpiredKeys } from './expired-keys';
import { Idempotency } from './idempotency';
import { IdempotencyKeyEntity } from './idempotency-key.entity';
import { IdempotencyRepository } from './idempotency.repository';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKeyEntity])],
  providers: [Idempotency, IdempotencyRepository, ExpiredKeys],
  exports: [Idempotency],
})
export class IdempotencyModule {}
