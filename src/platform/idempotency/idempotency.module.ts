import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExpiredKeys } from './expired-keys';
import { Idempotency } from './idempotency';
import { IdempotencyInterceptor } from './idempotency.interceptor';
import { IdempotencyKeyEntity } from './idempotency-key.entity';
import { IdempotencyRepository } from './idempotency.repository';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKeyEntity])],
  providers: [
    Idempotency,
    IdempotencyRepository,
    ExpiredKeys,
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  ],
  exports: [Idempotency],
})
export class IdempotencyModule {}
