import Stripe from 'stripe';
import { Account, API_VERSION } from './account';
import { authenticatePayment } from './authentication';
import { succeedLate } from './charges';
import {
  appealDispute,
  closeDispute,
  type DisputeCause,
  escalateInquiry,
  findDispute,
  openDispute,
} from './disputes';
import { Faults } from './faults';
import { idOf } from './fields';
import { confirmPaymentIntent, findPaymentIntent } from './payment-intents';
import { failRefund, findRefund, succeedRefund } from './refunds';
import { StripeServer } from './server';
import { authenticateSetup, confirmSetupIntent, findSetupIntent } from './setup-intents';
import { type BankBehaviour } from './test-methods';
import { Webhooks } from './webhooks';

export interface StripeDoubleOptions {
  /** Returns the current time, for example from the clock of the test application. Default: the system time. */
  readonly now?: () => Date;
  /** Key that clients must send. A key that begins with `sk_live_` means live mode. */
  readonly secretKey?: string;
}

/** A Stripe account behind an HTTP server in this process. Its methods let a test cause events at Stripe. */
export class StripeDouble {
  readonly faults = new Faults();
  readonly webhooks: Webhooks;
  /** Objects at Stripe, for assertions. Requests and the methods below change them. */
  readonly account: Account;
  readonly server: StripeServer;
  readonly secretKey: string;
  port = 0;
  private offsetMs = 0;

  constructor({ now = () => new Date(), secretKey = 'sk_test_double' }: StripeDoubleOptions) {
    this.secretKey = secretKey;
    this.webhooks = new Webhooks({
      now: () => this.account.now,
      later: (delayMs, run) => this.account.later(delayMs, run),
    });
    this.account = new Account(
      secretKey.startsWith('sk_live_'),
      () => new Date(now().getTime() + this.offsetMs),
      (event) => this.webhooks.accept(event),
    );
    this.server = new StripeServer(this.account, this.faults, secretKey);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The official SDK, connected to this account. */
  client(options: Stripe.StripeConfig = {}): Stripe {
    return new Stripe(this.secretKey, {
      apiVersion: API_VERSION,
      host: '127.0.0.1',
      port: this.port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
      ...options,
    });
  }

  /** Moves the account's clock forward and runs the work that is due by then. With 0, the clock stays. */
  advanceMs(milliseconds: number): void {
    this.offsetMs += milliseconds;
    this.account.runDue();
  }

  /** Ends the 3-D Secure of a payment intent or a setup intent, as the customer does. */
  authenticate(intent: string, successful = true): void {
    if (intent.startsWith('seti_')) {
      authenticateSetup(this.account, findSetupIntent(this.account, intent), successful);
    } else {
      authenticatePayment(this.account, findPaymentIntent(this.account, intent), successful);
    }
  }

  /** Confirms an intent as Stripe.js does in the browser of the customer, where only the client secret is known. */
  confirmInBrowser(clientSecret: string, paymentMethod?: string): void {
    const [intent = ''] = clientSecret.split('_secret_');
    const confirmation = {
      ...(paymentMethod !== undefined && { payment_method: paymentMethod }),
      use_stripe_sdk: true,
      mandate_data: {
        customer_acceptance: {
          type: 'online' as const,
          online: { ip_address: '127.0.0.1', user_agent: 'browser' },
        },
      },
    };
    if (intent.startsWith('seti_')) confirmSetupIntent(this.account, intent, confirmation);
    else confirmPaymentIntent(this.account, intent, confirmation);
  }

  /** Changes how the bank treats a payment method from now on. */
  setBank(paymentMethod: string, change: Partial<BankBehaviour>): void {
    const behaviour = this.account.behaviours.get(paymentMethod);
    if (!behaviour) throw new Error(`Stripe has no payment method ${paymentMethod}.`);
    this.account.behaviours.set(paymentMethod, { ...behaviour, ...change });
  }

  /** Gives a card a new expiry date, as the card updater of the networks does. */
  updateCard(paymentMethod: string, expiry: { exp_month: number; exp_year: number }): void {
    const method = this.account.paymentMethods.get(paymentMethod);
    if (!method?.card) throw new Error(`Stripe has no card ${paymentMethod}.`);
    const previous = { card: structuredClone(method.card) };
    Object.assign(method.card, expiry);
    this.account.record('payment_method.automatically_updated', method, previous);
  }

  /** Withdraws a mandate, as the customer's bank can. Later debits need a new mandate. */
  revokeMandate(id: string): void {
    const mandate = this.account.mandates.get(id);
    if (!mandate) throw new Error(`Stripe has no mandate ${id}.`);
    mandate.status = 'inactive';
    this.account.record('mandate.updated', mandate, { status: 'active' });
  }

  /** Lets a declined charge succeed afterwards. */
  succeedLate(paymentIntent: string): void {
    succeedLate(this.account, findPaymentIntent(this.account, paymentIntent));
  }

  openDispute(
    paymentIntent: string,
    cause: DisputeCause = 'fraudulent',
    amount?: number,
  ): Stripe.Dispute {
    const { latest_charge: id } = findPaymentIntent(this.account, paymentIntent);
    const charge = this.account.charges.get(idOf(id));
    if (charge?.status !== 'succeeded') throw new Error(`${paymentIntent} was not paid.`);
    return openDispute(this.account, charge, cause, amount);
  }

  /** Turns an inquiry into a chargeback. */
  escalateInquiry(dispute: string): void {
    escalateInquiry(this.account, findDispute(this.account, dispute));
  }

  appealDispute(dispute: string): void {
    appealDispute(this.account, findDispute(this.account, dispute));
  }

  closeDispute(dispute: string, result: 'won' | 'lost' | 'warning_closed'): void {
    closeDispute(this.account, findDispute(this.account, dispute), result);
  }

  succeedRefund(refund: string): void {
    succeedRefund(this.account, findRefund(this.account, refund));
  }

  failRefund(refund: string, reason = 'lost_or_stolen_card'): void {
    failRefund(this.account, findRefund(this.account, refund), reason);
  }

  async close(): Promise<void> {
    this.webhooks.close();
    await this.server.close();
  }
}

/** Starts an empty Stripe account on a free port. */
export async function startStripeDouble(options: StripeDoubleOptions = {}): Promise<StripeDouble> {
  const double = new StripeDouble(options);
  double.port = await double.server.listen();
  return double;
}
