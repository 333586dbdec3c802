export { OutboundError } from './outbound-error';
export { OutboundHttp, type OutboundRequest } from './outbound-http';
export { OutboundModule } from './outbound.module';
export { resolverFor } from './resolver';
