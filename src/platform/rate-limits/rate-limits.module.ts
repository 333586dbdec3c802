import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RateLimitCountEntity } from './rate-limit-count.entity';
import { RateLimitRepository } from './rate-limit.repository';
import { RateLimits } from './rate-limits';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([RateLimitCountEntity])],
  providers: [RateLimitRepository, RateLimits],
  exports: [RateLimits],
})
export class RateLimitsModule {}
