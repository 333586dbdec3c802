import { Injectable } from '@nestjs/common';
import type {
  ChargeRequest,
  DirectProvider,
  ProviderOutcome,
  ProviderRefundRequest,
} from '../domain/payment-provider';

/** Records payments and refunds that were made elsewhere, by bank transfer or in cash. Each succeeds at once. */
@Injectable()
export class ManualProvider implements DirectProvider {
  readonly name = 'manual';
  readonly flow = 'direct';

  accepts(token: string | null): boolean {
    return token === null;
  }

  charge({ idempotencyKey }: ChargeRequest): Promise<ProviderOutcome> {
    return Promise.resolve({ kind: 'succeeded', reference: idempotencyKey });
  }

  refund({ idempotencyKey }: ProviderRefundRequest): Promise<ProviderOutcome> {
    return Promise.resolve({ kind: 'succeeded', reference: idempotencyKey });
  }
}
