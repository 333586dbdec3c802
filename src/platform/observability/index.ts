export { Lifecycle } from './lifecycle';
export { Metrics } from './metrics';
export { ObservabilityModule } from './observability.module';
