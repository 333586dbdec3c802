import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { ProcessSession } from '../../../platform/processes';
import type { Payment } from '../domain/payment';
import type { ProviderName, ProviderOutcome } from '../domain/payment-provider';
import { ProviderEventsRepository } from '../provider-events/provider-events.repository';
import { ProviderGateway } from '../providers/provider-gateway';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/**
 * Time that a charge waits if the provider's events were not read yet in this process's current session on the
 * database.
 */
const FIRST_READ_MS = 10_000;
/** Longest time that renewals wait for the events of the provider. */
const RENEWALS_WAIT_MS = 15 * MINUTE_MS;

/**
 * Sends automatic charges to providers, and decides how long charges and renewals wait for the events of the provider.
 */
@Injectable()
export class AutomaticChargesService {
  private readonly logger = new Logger('collect-invoices');
  /**
   * Session of this process, with its number (null without a number), at the last check. Null before the first check.
   */
  private session: {
    readonly number: number | null;
    /** Time of the first check in this session. */
    readonly since: Date;
    /** True once the events of the provider were read after `since`. */
    hasRead: boolean;
  } | null = null;

  constructor(
    private readonly gateway: ProviderGateway,
    private readonly events: ProviderEventsRepository,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly processes: ProcessSession,
  ) {}

  /**
   * Returns how long automatic charges must wait, in milliseconds; 0: they need not wait. Charges wait a day at a time
   * while the provider is not enabled, 10 s at a time until its events were first read in this process's current
   * session on the database, and later a minute at a time while its events are not read.
   *
   * The events show payments that only the provider knows, after downtime or after a backup was restored. Charges that
   * do not wait would repeat such payments. A restore always leads to a new session, because a database is restored
   * only while no process is connected.
   * @param isRealTime false: customers on a test clock, whose charges do not wait for events because they move no
   *   money
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
    if (!(await this.hasReadInSession(provider))) return FIRST_READ_MS;
    const maxAgeMs = stripe.eventsMaxAgeMinutes * MINUTE_MS;
    if (!(await this.events.isBehind(provider, this.clock.now(), maxAgeMs))) return 0;
    this.logger.warn(
      { provider },
      'invoices wait a minute: the events of the provider are not read',
    );
    return MINUTE_MS;
  }

  /**
   * Returns true while renewals must wait for Stripe's events: until they were read, but at most 15 minutes in each
   * session of this process. After a backup was restored, these events may report payments of invoices that the backup
   * lacks. Such a payment becomes credit of the customer, and the repeated renewal must use this credit.
   */
  async mustRenewalsWait(): Promise<boolean> {
    if (this.configuration.stripe === null || (await this.hasReadInSession('stripe'))) return false;
    const since = this.session?.since ?? this.clock.now();
    return this.clock.now().getTime() - since.getTime() < RENEWALS_WAIT_MS;
  }

  /**
   * Returns true once events were read and processed in the current session of this process. Also true if the
   * provider's events were never listed. In a new session, makes the next listing due at once.
   */
  private async hasReadInSession(provider: ProviderName): Promise<boolean> {
    const { number } = this.processes;
    let { session } = this;
    if (session?.number !== number) {
      session = { number, since: this.clock.now(), hasRead: false };
      this.session = session;
      await this.events.makeCursorDue(provider, session.since);
    }
    session.hasRead ||= await this.events.hasReadSince(provider, session.since);
    return session.hasRead;
  }

  /** Charges a payment that was not sent to the provider before. */
  charge(payment: Payment): Promise<ProviderOutcome> {
    return this.gateway.charge(payment);
  }
}
