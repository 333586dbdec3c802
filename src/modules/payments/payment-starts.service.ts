import { Injectable } from '@nestjs/common';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { type NewPayment, newPayment, type Payment, type StartedPayment } from './domain/payment';
import type { UnrecordedCharge } from './domain/payment-provider';
import { type Lease, pollLease, type StartedLease } from './domain/poll-lease';
import { paymentCreated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Stores payments before the provider is called, in the caller's transaction. */
@Injectable()
export class PaymentStartsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /**
   * Returns a lease of this process for new payments. Must not be called in a transaction, because it may wait until
   * this process is connected to the database.
   * @throws {ProblemError} `service_unavailable` if this process is not connected to the database in time
   */
  async lease(): Promise<StartedLease> {
    const owner = await this.session.requireNumber();
    const startedAt = this.clock.now();
    return { lease: pollLease(startedAt, owner), startedAt };
  }

  /**
   * Returns the id and the lease of a new payment, and stores nothing. Must not be called in a transaction.
   * @throws {ProblemError} `service_unavailable` if this process is not connected to the database in time
   */
  async start(): Promise<StartedPayment> {
    return { id: newId('pay'), ...(await this.lease()) };
  }

  /** Claims the idempotency key of the request for a started payment. Must be the first call in the transaction. */
  async claimKey({ id }: StartedPayment): Promise<void> {
    await this.idempotency.claimFor(id);
  }

  /**
   * Stores a payment for a charge that already exists at the provider, and records `payment.created`.
   * @param now time on the customer's clock
   */
  async adopt(
    { paymentId: id, reference, createdAt: startedAt }: UnrecordedCharge,
    lease: Lease,
    fields: Omit<NewPayment, 'actor' | 'collectionAttempt' | 'paymentMethodId' | 'metadata'>,
    now: Date,
  ): Promise<Payment> {
    const unknown = { collectionAttempt: null, paymentMethodId: null, metadata: {} };
    return this.insert({ id, lease, startedAt, reference }, { ...fields, ...unknown }, now);
  }

  /**
   * Stores a started payment and records `payment.created`.
   * @param now time on the customer's clock
   */
  async insert(
    started: StartedPayment,
    fields: Omit<NewPayment, 'actor'>,
    now: Date,
  ): Promise<Payment> {
    const payment = newPayment(started, { ...fields, actor: currentActor() }, now);
    await this.payments.insert(payment);
    await this.outbox.record(paymentCreated, { after: payment, occurredAt: now });
    return payment;
  }
}
