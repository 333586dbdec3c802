export { isUsageRequest } from './usage-route';
export { MeteringModule } from './metering.module';
