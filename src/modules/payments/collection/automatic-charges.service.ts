import { Injectable, Logger } from '@nestjs/common';
import { isMisdated } from '../../../core/next-version';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Database } from '../../../platform/database';
import { ProcessSession } from '../../../platform/processes';
import type { Payment } from '../domain/payment';
import type { ProviderName, ProviderOutcome } from '../domain/payment-provider';
import { ProviderEventsRepository } from '../provider-events/provider-events.repository';
import { ProviderGateway } from '../providers/provider-gateway';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FIRST_READ_MS = 10_000;
const RENEWALS_WAIT_MS = 15 * MINUTE_MS;
/** Maximum number of failed events, latest first, that are tried again when this process connects to the database. */
const RETRIED_EVENTS = 50;

/**
 * Session of this process. Begins when the process connects to the database, or when its clock is set back. Automatic
 * charges wait until the provider's events from before the session are read.
 */
interface ReadingSession {
  /** Number that this process gets with each connection to the database; null: not connected. */
  readonly number: number | null;
  /** Start of the session. */
  readonly since: Date;
  /** Time at which the session was last used. */
  seenAt: Date;
  /** True if the log already shows that charges have waited long in this session. */
  isLogged: boolean;
}

/**
 * Sends automatic charges to providers. Works out how long charges and renewals must wait until the provider's events
 * have been read.
 */
@Injectable()
export class AutomaticChargesService {
  private readonly logger = new Logger('collect-invoices');
  /** Null before the first call of {@link currentSession}. */
  private session: ReadingSession | null = null;

  constructor(
    private readonly gateway: ProviderGateway,
    private readonly events: ProviderEventsRepository,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly processes: ProcessSession,
    private readonly database: Database,
  ) {}

  /**
   * Returns how long automatic charges must wait, in milliseconds:
   * - a day if the provider is not enabled
   * - 10 s if events from before this process connected to the database are not read or not processed yet
   * - a minute if the latest events are not read or not processed
   * - 0 otherwise
   *
   * Without the wait, customers could be charged twice: after downtime or a restore from a backup, this database lacks
   * payments that the provider's events report. The wait starts again with each connection to the database, because a
   * database is restored only while no process is connected.
   * @param isRealTime false for customers on a test clock. Their charges do not wait, because they move no money
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
    const session = await this.currentSession(provider);
    if (!(await this.events.hasReadSince(provider, session.since))) {
      this.logLastingWait(provider, session, maxAgeMs);
      return FIRST_READ_MS;
    }
    if (!(await this.events.isBehind(provider, this.clock.now(), maxAgeMs))) return 0;
    this.logger.warn(
      { provider },
      'invoices wait a minute: the events of the provider are not read',
    );
    return MINUTE_MS;
  }

  /** Logs, once per session, that charges still wait `afterMs` after the session began. */
  private logLastingWait(provider: ProviderName, session: ReadingSession, afterMs: number): void {
    if (session.isLogged) return;
    if (this.clock.now().getTime() - session.since.getTime() < afterMs) return;
    session.isLogged = true;
    const message =
      'invoices wait: events of the provider from before the start are not read or applied';
    this.logger.warn({ provider }, message);
  }

  /**
   * Returns true while renewals must wait for Stripe's events, at most 15 minutes after this process connected to the
   * database. After a restore from a backup, renewals that the backup lacks are repeated and make new invoices.
   * Payments of the lost invoices become credit of the customers when Stripe's events are processed. This must happen
   * first, so that the new invoices use the credit.
   */
  async mustRenewalsWait(): Promise<boolean> {
    if (this.configuration.stripe === null) return false;
    const { since } = await this.currentSession('stripe');
    const isOver = this.clock.now().getTime() - since.getTime() >= RENEWALS_WAIT_MS;
    return !isOver && !(await this.events.hasReadSince('stripe', since));
  }

  /**
   * Returns the current session. Begins a new session at the first call after this process connected to the database,
   * and after the clock was set back by more than a minute. With the old session, charges could wait until the clock
   * shows its start again. A new session makes the next listing of events due at once. It also retries the latest
   * failed events: the API key may have been corrected, or a wrong clock may have dated them. If the transaction is
   * rolled back, the next call repeats this.
   */
  private async currentSession(provider: ProviderName): Promise<ReadingSession> {
    const { number } = this.processes;
    const now = this.clock.now();
    if (this.session?.number === number && !isMisdated(this.session.seenAt, now)) {
      this.session.seenAt = now;
      return this.session;
    }
    const session = { number, since: now, seenAt: now, isLogged: false };
    await this.events.makeCursorDue(provider, session.since);
    await this.events.tryWaitingAgain(provider, session.since, RETRIED_EVENTS);
    this.database.afterCommit(() => {
      this.session = session;
    });
    return session;
  }

  charge(payment: Payment): Promise<ProviderOutcome> {
    return this.gateway.charge(payment);
  }
}
