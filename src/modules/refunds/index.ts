export { RefundsModule } from './refunds.module';
export { RefundsService } from './refunds.service';
export { SandboxRefundsModule } from './sandbox-refunds.module';
export { SettleRefundService } from './settle-refund.service';
