import { Injectable } from '@nestjs/common';
import type { Discrepancy } from './discrepancies/domain/discrepancy';

/** Books a failed refund as succeeded, in the caller's transaction. */
type RefundCorrection = (discrepancy: Discrepancy, refundId: string) => Promise<void>;

/** Hook for the module of refunds, which lies above and registers here while it starts. */
@Injectable()
export class RefundCorrections {
  private registered: RefundCorrection | null = null;

  register(correction: RefundCorrection): void {
    this.registered = correction;
  }

  async correct(discrepancy: Discrepancy, refundId: string): Promise<void> {
    if (this.registered === null) throw new Error('No module corrects refunds.');
    await this.registered(discrepancy, refundId);
  }
}
