import { Global, Module } from '@nestjs/common';
import { RateLimitRepository } from './rate-limit.repository';
import { RateLimits } from './rate-limits';

@Global()
@Module({
  providers: [RateLimitRepository, RateLimits],
  exports: [RateLimits],
})
export class RateLimitsModule {}
