export { RefundsModule } from './refunds.module';
export type { Refund } from './domain/refund';
export { RefundsRepository } from './refunds.repository';
export { RefundsService } from './refunds.service';
export { SandboxRefundsModule } from './sandbox-refunds.module';
export { SettleRefundService } from './settle-refund.service';
