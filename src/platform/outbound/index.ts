export type { OutboundAnswer } from './exchange';
export { OutboundError, type OutboundReason } from './outbound-error';
export { OutboundHttp, type OutboundRequest } from './outbound-http';
export { OutboundModule } from './outbound.module';
