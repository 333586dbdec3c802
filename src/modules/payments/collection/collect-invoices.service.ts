import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { newId } from '../../../platform/ids';
import { Outbox } from '../../../platform/outbox';
import { ProcessSession } from '../../../platform/processes';
import { CustomersService } from '../../customers';
import {
  AttemptsUnderWay,
  type Invoice,
  InvoiceCollectionService,
  InvoicePaymentsService,
  type TimeScope,
} from '../../invoicing';
import { SubscriptionStandingService } from '../../subscriptions';
import { pollLease, newPayment, type Payment } from '../domain/payment';
import type { ChosenMethod } from '../methods/domain/payment-method';
import { PaymentMethodsService } from '../methods/payment-methods.service';
import { PaymentOutcomesService } from '../payment-outcomes.service';
import { paymentCreated } from '../payments.events';
import { PaymentsRepository } from '../payments.repository';
import { ProviderGateway } from '../providers/provider-gateway';
import { methodToCharge } from './domain/attempt';

const LOOKED_AT_ONCE = 50;
const DAY_MS = 86_400_000;

/** Result of one round of collection. */
interface Begun {
  /** How many were looked at. */
  readonly lookedAt: number;
  /** The attempts begun at them; their providers are to be asked. */
  readonly payments: readonly Payment[];
}

/** Charges invoices that are collected automatically: each attempt once, by the worker that locks the invoice first. */
@Injectable()
export class CollectInvoicesService implements OnModuleInit {
  private readonly logger = new Logger('collect-invoices');

  constructor(
    private readonly database: Database,
    private readonly collection: InvoiceCollectionService,
    private readonly invoices: InvoicePaymentsService,
    private readonly standing: SubscriptionStandingService,
    private readonly customers: CustomersService,
    private readonly methods: PaymentMethodsService,
    private readonly payments: PaymentsRepository,
    private readonly attempts: AttemptsUnderWay,
    private readonly outcomes: PaymentOutcomesService,
    private readonly gateway: ProviderGateway,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  onModuleInit(): void {
    this.attempts.register((invoiceIds) => this.payments.attemptedNow(invoiceIds));
  }

  /**
   * The first commit of attempts at some due invoices: the reserves, the pending payments and their events. From then on
   * the due payments see to it that each ends, whatever becomes of this process. Many are looked at, since most may have
   * nothing to charge.
   * @param most attempts; what would be one more stays due
   */
  begin(scope: TimeScope, now: Date, most: number): Promise<Begun> {
    return this.database.transaction(async () => {
      const due = await this.collection.lockDue(scope, now, LOOKED_AT_ONCE);
      const toCharge = await this.toCharge(due, now);
      await this.collection.wait(
        due.filter((invoice) => toCharge(invoice) === null),
        now,
      );
      const payments: Payment[] = [];
      for (const invoice of await this.postponeSwitchedOff(due, toCharge, now)) {
        const method = toCharge(invoice);
        if (method === null || payments.length === most) continue;
        payments.push(await this.attempt(invoice, method, now));
      }
      return { lookedAt: due.length, payments };
    });
  }

  /** Asks the provider, and writes down what came of it. */
  async charge(payment: Payment): Promise<void> {
    await this.outcomes.settle(payment, await this.gateway.charge(payment));
  }

  /**
   * Looks once more at invoices that are void or were credited wholly: a subscription that owes nothing else is active
   * again.
   * @returns how many were looked at
   */
  async close(scope: TimeScope, now: Date, most: number): Promise<number> {
    const ids = await this.collection.findClosed(scope, now, most);
    for (const id of ids) await this.closeOne(id, now);
    return ids.length;
  }

  private closeOne(id: string, now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const { subscriptionId } = await this.invoices.get(id);
      const subscription =
        subscriptionId === null ? null : await this.standing.lock(subscriptionId);
      const invoice = await this.invoices.lock(id);
      if (invoice.collectAt === null) return;
      await this.collection.wait([invoice], now);
      if (subscription === null || (await this.collection.isOwedBy(subscription.id))) return;
      await this.standing.note(subscription, 'settled', now);
    });
  }

  /** Postpones invoices whose default method is of a provider that is not switched on; returns the others. */
  private async postponeSwitchedOff(
    due: readonly Invoice[],
    toCharge: (invoice: Invoice) => ChosenMethod | null,
    now: Date,
  ): Promise<readonly Invoice[]> {
    const isSwitchedOff = (invoice: Invoice): boolean => {
      const method = toCharge(invoice);
      return method !== null && !this.gateway.isEnabled(method.provider);
    };
    const postponed = due.filter(isSwitchedOff);
    if (postponed.length === 0) return due;
    await this.collection.postpone(postponed, new Date(now.getTime() + DAY_MS), now);
    this.logger.warn(
      { invoices: postponed.length },
      'invoices wait a day: PAYMENT_PROVIDERS does not name the provider of the payment method',
    );
    return due.filter((invoice) => !isSwitchedOff(invoice));
  }

  /** Reads, each kind with one statement, what decides about the invoices: what is returned tells what to charge for each. */
  private async toCharge(
    due: readonly Invoice[],
    now: Date,
  ): Promise<(invoice: Invoice) => ChosenMethod | null> {
    const customerIds = due.map(({ customerId }) => customerId);
    const existing = await this.customers.existing(customerIds);
    const methods = await this.methods.defaults([...existing]);
    const leftAlone = await this.standing.leftAlone(
      due.flatMap(({ subscriptionId }) => subscriptionId ?? []),
      now,
    );
    return (invoice) =>
      methodToCharge({
        method: methods.get(invoice.customerId) ?? null,
        payableMinor: this.invoices.payable(invoice),
        isLeftAlone: invoice.subscriptionId !== null && leftAlone.has(invoice.subscriptionId),
      });
  }

  private async attempt(before: Invoice, method: ChosenMethod, now: Date): Promise<Payment> {
    const invoice = await this.collection.begin(before, now);
    const amount = invoice.amountPending - before.amountPending;
    invariant(amount > 0n, 'an attempt charges something');
    const { customerId, id: invoiceId, currency, attemptCount: collectionAttempt } = invoice;
    const lease = pollLease(this.clock.now(), this.session.number);
    const order = { ...method, customerId, invoiceId, collectionAttempt, amount, currency };
    const payment = newPayment(newId('pay'), { ...order, metadata: {} }, now, lease);
    await this.payments.insert(payment);
    await this.outbox.record(paymentCreated, { after: payment, occurredAt: now });
    return payment;
  }
}
