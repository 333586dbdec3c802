import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import type { DetachOutcome } from '../domain/payment-provider';
import { pollAgainLater } from '../domain/poll-lease';
import { ProviderGateway } from '../providers/provider-gateway';
import type { PaymentMethod } from './domain/payment-method';
import { PaymentMethodsRepository } from './payment-methods.repository';

/** Detaches deleted payment methods at the provider, outside any transaction. A repeated call has no further effect. */
@Injectable()
export class DetachMethodsService {
  private readonly logger = new Logger('detach-methods');

  constructor(
    private readonly methods: PaymentMethodsRepository,
    private readonly gateway: ProviderGateway,
    private readonly clock: Clock,
  ) {}

  /** Tries to detach a deleted method at the provider. If this fails, logs a warning and plans another attempt. */
  async resume(id: string): Promise<void> {
    const method = await this.methods.findToDetach(id);
    if (method === null) return;
    const { kind } = await this.detach(method);
    if (kind === 'detached') {
      await this.methods.recordDetachment(method, { dueAt: null, attempts: method.attempts });
      return;
    }
    const next = pollAgainLater(method, this.clock.now());
    await this.methods.recordDetachment(method, next);
    const { provider, customerId } = method;
    const found = { payment_method_id: id, customer_id: customerId, provider, outcome: kind };
    this.logger.warn(found, 'a deleted payment method is not detached at its provider yet');
  }

  /**
   * Detaches the token at the provider. Leaves the token attached in two cases:
   * - the customer has added the token again: returns `detached`, because nothing is left to do
   * - a payment is charging the token: returns `being_charged`
   */
  private async detach(
    method: PaymentMethod,
  ): Promise<DetachOutcome | { readonly kind: 'being_charged' }> {
    if (await this.methods.isTokenInUse(method)) return { kind: 'detached' };
    if (await this.methods.isBeingCharged(method)) return { kind: 'being_charged' };
    return this.gateway.detach(method.provider, method.token);
  }
}
