import { Global, Module } from '@nestjs/common';
import { DamagedReads } from './damaged-reads';
import { DatabaseGauges } from './database-gauges';
import { DueWorkMetrics } from './due-work-metrics';
import { HealthController } from './health.controller';
import { Lifecycle } from './lifecycle';
import { Metrics } from './metrics';
import { MonitoringServer } from './monitoring-server';
import { Readiness } from './readiness';

@Global()
@Module({
  controllers: [HealthController],
  providers: [
    DamagedReads,
    DatabaseGauges,
    DueWorkMetrics,
    Lifecycle,
    Metrics,
    MonitoringServer,
    Readiness,
  ],
  exports: [DamagedReads, DatabaseGauges, Lifecycle, Metrics, MonitoringServer],
})
export class ObservabilityModule {}
