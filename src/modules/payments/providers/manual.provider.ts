import { Injectable } from '@nestjs/common';
import type {
  ChargeRequest,
  PaymentProvider,
  ProviderOutcome,
  RefundRequest,
} from '../domain/payment-provider';

/** Records money that moved elsewhere, by bank transfer or in cash, as the caller reports it. */
@Injectable()
export class ManualProvider implements PaymentProvider {
  readonly name = 'manual';

  accepts(token: string | null): boolean {
    return token === null;
  }

  charge({ idempotencyKey }: ChargeRequest): Promise<ProviderOutcome> {
    return Promise.resolve({ kind: 'succeeded', reference: idempotencyKey });
  }

  refund({ idempotencyKey }: RefundRequest): Promise<ProviderOutcome> {
    return Promise.resolve({ kind: 'succeeded', reference: idempotencyKey });
  }

  retrieve(idempotencyKey: string): Promise<ProviderOutcome> {
    return Promise.resolve({ kind: 'succeeded', reference: idempotencyKey });
  }
}
