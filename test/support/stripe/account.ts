import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';
import { type BankBehaviour } from './test-methods';

/** Version of Stripe's API that the pinned SDK uses, and the only one that the test double answers. */
export const API_VERSION = '2026-10-28.endive';

const EVENTS_KEPT_S = 30 * 86_400;

/** Work that becomes due when the clock reaches `atMs`, without a request, such as the settlement of a debit. */
interface DueWork {
  readonly atMs: number;
  readonly run: () => void;
}

/** All objects of the single Stripe account that the double has, by id, in the order of their creation. */
export class Account {
  readonly customers = new Map<string, Stripe.Customer>();
  readonly deletedCustomers = new Map<string, Stripe.DeletedCustomer>();
  readonly paymentMethods = new Map<string, Stripe.PaymentMethod>();
  readonly mandates = new Map<string, Stripe.Mandate>();
  readonly paymentIntents = new Map<string, Stripe.PaymentIntent>();
  readonly setupIntents = new Map<string, Stripe.SetupIntent>();
  readonly charges = new Map<string, Stripe.Charge>();
  readonly refunds = new Map<string, Stripe.Refund>();
  readonly disputes = new Map<string, Stripe.Dispute>();
  readonly balanceTransactions = new Map<string, Stripe.BalanceTransaction>();
  readonly events = new Map<string, Stripe.EventBase>();
  /** How the bank treats each payment method. */
  readonly behaviours = new Map<string, BankBehaviour>();
  /** Payment methods that were detached, or used without a customer. They cannot be used again. */
  readonly spentMethods = new Set<string>();
  /** The request that is being executed. Events name it as their cause. */
  request: Stripe.Event.Request | null = null;
  private due: readonly DueWork[] = [];

  constructor(
    readonly livemode: boolean,
    private readonly clock: () => Date,
    private readonly onEvent: (event: Stripe.EventBase) => void,
  ) {}

  get nowMs(): number {
    return this.clock().getTime();
  }

  /** Returns the time in whole seconds, as Stripe states it. */
  get now(): number {
    return Math.floor(this.nowMs / 1000);
  }

  newId(prefix: string): string {
    return `${prefix}_${randomBytes(12).toString('hex')}`;
  }

  /** Records an event with a snapshot of the object, and sends it to the webhooks. */
  record(type: Stripe.Event.Type, object: object, previous?: object): void {
    const event = {
      id: this.newId('evt'),
      object: 'event',
      api_version: API_VERSION,
      created: this.now,
      data: structuredClone<Stripe.Event.Data>({
        object,
        ...(previous && { previous_attributes: previous }),
      }),
      livemode: this.livemode,
      pending_webhooks: 0,
      request: this.request ?? { id: null, idempotency_key: null },
      type,
    } satisfies Stripe.EventBase;
    this.events.set(event.id, event);
    this.onEvent(event);
  }

  /** Deletes events that are older than the time for which Stripe keeps events. */
  forgetOldEvents(): void {
    for (const { id, created } of this.events.values()) {
      if (created > this.now - EVENTS_KEPT_S) return;
      this.events.delete(id);
    }
  }

  later(delayMs: number, run: () => void): void {
    this.due = [...this.due, { atMs: this.nowMs + delayMs, run }];
  }

  /** Runs the due work in the order of its time. */
  runDue(): void {
    const ready = this.due.filter(({ atMs }) => atMs <= this.nowMs);
    this.due = this.due.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of ready.sort((a, b) => a.atMs - b.atMs)) run();
  }
}
