import { Injectable } from '@nestjs/common';
import { actionExpiresAt } from './domain/payment';
import type { ProviderName } from './domain/payment-provider';
import { paymentActionNotRequired } from './payments.errors';
import { PaymentsService } from './payments.service';
import { ProviderGateway } from './providers/provider-gateway';

/** Confirmation that a payment needs from its customer, e.g. by 3-D Secure. */
export interface RequiredAction {
  readonly paymentId: string;
  readonly provider: ProviderName;
  readonly clientSecret: string;
  readonly expiresAt: Date;
}

/** Reads client secrets from the provider at each request, and never stores them. */
@Injectable()
export class ClientActionsService {
  constructor(
    private readonly payments: PaymentsService,
    private readonly gateway: ProviderGateway,
  ) {}

  /** @throws {ProblemError} `payment_not_found`, `payment_action_not_required`, `payment_provider_unavailable` */
  async get(paymentId: string): Promise<RequiredAction> {
    const payment = await this.payments.get(paymentId);
    const { status, provider } = payment;
    const action = status === 'requires_action' ? await this.gateway.clientAction(payment) : null;
    if (action === null) throw paymentActionNotRequired(paymentId, status);
    const { clientSecret } = action;
    return { paymentId, provider, clientSecret, expiresAt: actionExpiresAt(payment) };
  }
}
