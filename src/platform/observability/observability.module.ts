import { Global, Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { Lifecycle } from './lifecycle';
import { Metrics } from './metrics';

@Global()
@Module({
  controllers: [HealthController],
  providers: [Lifecycle, Metrics],
  exports: [Lifecycle, Metrics],
})
export class ObservabilityModule {}
