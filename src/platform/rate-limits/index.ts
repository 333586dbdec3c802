export { rateLimitAddress } from './address';
export { limitRequests } from './limit-requests';
export { RateLimits } from './rate-limits';
export { RateLimitsModule } from './rate-limits.module';
