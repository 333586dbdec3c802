export { DamagedReads } from './damaged-reads';
export { DatabaseGauges } from './database-gauges';
export { Lifecycle } from './lifecycle';
export { Metrics } from './metrics';
export { MonitoringServer } from './monitoring-server';
export { ObservabilityModule } from './observability.module';
