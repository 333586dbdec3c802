import { Injectable } from '@nestjs/common';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import {
  type NewPayment,
  newPayment,
  type Payment,
  pollLease,
  type StartedPayment,
} from './domain/payment';
import { paymentCreated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Writes payments before their provider is asked, in the caller's transaction. */
@Injectable()
export class PaymentStartsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /** Starts a payment for a request, and claims its idempotency key for it. */
  async claim(): Promise<StartedPayment> {
    const started = this.start();
    await this.idempotency.claimFor(started.id, started.lease);
    return started;
  }

  /** Starts a payment that no request asked for. */
  start(): StartedPayment {
    const startedAt = this.clock.now();
    return {
      id: newId('pay'),
      lease: pollLease(startedAt, this.session.number),
      startedAt,
    };
  }

  /**
   * Writes a started payment and records `payment.created`.
   * @param now time of the customer
   */
  async insert(
    started: StartedPayment,
    order: Omit<NewPayment, 'actor'>,
    now: Date,
  ): Promise<Payment> {
    const payment = newPayment(started, { ...order, actor: currentActor() }, now);
    await this.payments.insert(payment);
    await this.outbox.record(paymentCreated, { after: payment, occurredAt: now });
    return payment;
  }
}
