export { isSameNote } from './domain/refund';
export type { Refund, RefundLimits, RefundNote, RefundRequest } from './domain/refund';
export { CreateRefundDto, toRefundRequest } from './dto/create-refund.dto';
export { RefundDto, toRefundDto } from './dto/refund.dto';
export { ProviderRefundsService } from './provider-refunds.service';
export {
  paymentHasNoInvoice,
  refundDiffersFromCreditNote,
  refundLimitExceeded,
} from './refunds.errors';
export { RefundsModule } from './refunds.module';
export { RefundsRepository } from './refunds.repository';
export {
  type ReservedRefund,
  type RefundedNote,
  RefundsService,
  type StartedRefund,
} from './refunds.service';
export { SandboxRefundsModule } from './sandbox-refunds.module';
export { SettleRefundService } from './settle-refund.service';
export { WaitingRefundsService } from './waiting-refunds.service';
