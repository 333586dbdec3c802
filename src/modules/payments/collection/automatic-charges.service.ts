import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import type { Payment } from '../domain/payment';
import type { ProviderName, ProviderOutcome } from '../domain/payment-provider';
import { ProviderEventsRepository } from '../provider-events/provider-events.repository';
import { ProviderGateway } from '../providers/provider-gateway';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** Charges invoices that are collected automatically, where the provider may be asked now. */
@Injectable()
export class AutomaticChargesService {
  private readonly logger = new Logger('collect-invoices');

  constructor(
    private readonly gateway: ProviderGateway,
    private readonly events: ProviderEventsRepository,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Returns for how long automatic charges wait, in milliseconds; 0: not at all. After downtime, or in a restored database, the
   * service does not know what happened at the provider meanwhile, until it has read the events.
   * @param isRealTime false for customers on a test clock, whose money is not real: they do not wait for events
   */
  async waitMs(provider: ProviderName, isRealTime: boolean): Promise<number> {
    if (!this.gateway.isEnabled(provider)) {
      const message =
        'invoices wait a day: PAYMENT_PROVIDERS does not name the provider of the payment method';
      this.logger.warn({ provider }, message);
      return DAY_MS;
    }
    const { stripe } = this.configuration;
    if (!isRealTime || provider !== 'stripe' || stripe === null) return 0;
    const maxAgeMs = stripe.eventsMaxAgeMinutes * MINUTE_MS;
    if (!(await this.events.isBehind(provider, this.clock.now(), maxAgeMs))) return 0;
    this.logger.warn(
      { provider },
      'invoices wait a minute: the events of the provider are not read',
    );
    return MINUTE_MS;
  }

  /** Charges a payment whose provider was not asked yet. */
  charge(payment: Payment): Promise<ProviderOutcome> {
    return this.gateway.charge(payment);
  }
}
