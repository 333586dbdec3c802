import { Injectable } from '@nestjs/common';
import type Stripe from 'stripe';
import type {
  AttachOutcome,
  BeginSetupOutcome,
  ChargeQuery,
  ChargeRequest,
  ClientAction,
  DetachOutcome,
  ProviderDisputeState,
  ListedRefund,
  NotSentOutcome,
  UnrecordedChargeState,
  UnrecordedRefundState,
  PreparedCharge,
  PreparingProvider,
  ProviderOutcome,
  ProviderRefundRequest,
  ProviderSetupState,
  SetupRequest,
} from '../../domain/payment-provider';
import { toStripeAmount } from './stripe-amounts';
import { StripeClient } from './stripe-client';
import { disputeOf } from './stripe-disputes';
import {
  detailsOf,
  isCustomerMissing,
  missingCustomer,
  outcomeOfMissing,
  stateOfSetup,
} from './stripe-methods';
import { intentParameters, unrecordedChargeOf, unrecordedRefundOf } from './stripe-metadata';
import {
  AMOUNT_NOT_CHARGEABLE,
  failureOfDecline,
  isMissing,
  NOT_SENT,
  outcomeOfFailure,
  outcomeOfRefundFailure,
  type StripeFailure,
} from './stripe-errors';
import { listedRefundOf, outcomeOfRefund, stateOfIntent } from './stripe-outcomes';
import { findCharge } from './stripe-search';

/** Time in which a request may be repeated with the same idempotency key. Stripe stores keys for at least 24 hours. */
const REPLAY_MS = 23 * 3_600_000;

/** Makes charges and refunds at Stripe, and keeps payment methods there. The metadata of each object contain our id. */
@Injectable()
export class StripeProvider implements PreparingProvider {
  readonly name = 'stripe';
  readonly flow = 'prepared';
  readonly replayMs = REPLAY_MS;
  readonly chargesTestClocks: boolean;

  constructor(private readonly client: StripeClient) {
    this.chargesTestClocks = !client.isLive;
  }

  /** Returns false, because a method of Stripe must be attached to a customer before it is charged. */
  accepts(): boolean {
    return false;
  }

  isMethodToken(token: string): boolean {
    return /^(?:pm|card|src|ba)_[A-Za-z0-9_]{1,200}$/.test(token);
  }

  async createCustomer(customerId: string): Promise<string | null> {
    const metadata = { environment: this.client.environment, customer_id: customerId };
    const { answer } = await this.client.request(
      'customers',
      // Sent without an idempotency key, because Stripe would replay an error for a day. If several customers are
      // created, the customer that is stored first is used.
      (sdk) => sdk.customers.create({ metadata }),
      { customer_id: customerId },
    );
    return answer?.id ?? null;
  }

  async attach(token: string, customer: string): Promise<AttachOutcome> {
    const { answer, failure } = await this.client.request(
      'payment_methods/attach',
      (sdk) => sdk.paymentMethods.attach(token, { customer }),
      { provider_reference: token },
    );
    if (answer !== null) {
      return { kind: 'attached', token: answer.id, details: detailsOf(answer) };
    }
    if (isCustomerMissing(failure)) return missingCustomer(await this.readCustomer(customer));
    const { status } = failure;
    if (status === 400 || status === 402 || isMissing(failure)) return { kind: 'refused' };
    const outcome = outcomeOfFailure(failure);
    return outcome.kind === 'not_sent' ? outcome : { kind: 'unknown' };
  }

  async detach(token: string): Promise<DetachOutcome> {
    const { answer, failure } = await this.client.request(
      'payment_methods/detach',
      (sdk) => sdk.paymentMethods.detach(token),
      { provider_reference: token },
    );
    if (answer !== null || (await this.isDetached(token, failure))) return { kind: 'detached' };
    const outcome = outcomeOfFailure(failure);
    return outcome.kind === 'not_sent' ? outcome : { kind: 'unknown' };
  }

  /**
   * Returns true if Stripe does not have the method, or has it without a customer. In the second case, Stripe answers
   * the request to detach with status 400 and no error code, so the payment method must be read to find out.
   */
  private async isDetached(token: string, failure: StripeFailure): Promise<boolean> {
    if (failure.status !== 400) return isMissing(failure);
    const { answer } = await this.client.request('payment_methods/retrieve', (sdk) =>
      sdk.paymentMethods.retrieve(token),
    );
    return answer?.customer === null;
  }

  async beginSetup(request: SetupRequest): Promise<BeginSetupOutcome> {
    const { setupId, customerId, customerReference: customer } = request;
    const { environment } = this.client;
    const metadata = { environment, setup_id: setupId, customer_id: customerId };
    const parameters = {
      customer,
      usage: 'off_session',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      metadata,
    } as const;
    const { answer, failure } = await this.client.request(
      'setup_intents',
      (sdk) => sdk.setupIntents.create(parameters),
      { setup_id: setupId },
    );
    if (answer !== null) return { kind: 'begun', reference: answer.id };
    if (isCustomerMissing(failure)) return missingCustomer(await this.readCustomer(customer));
    const outcome = outcomeOfFailure(failure);
    return outcome.kind === 'not_sent' ? outcome : { kind: 'unknown' };
  }

  async retrieveSetup(reference: string): Promise<ProviderSetupState> {
    const { answer, failure } = await this.client.request('setup_intents/retrieve', (sdk) =>
      sdk.setupIntents.retrieve(reference, { expand: ['payment_method'] }),
    );
    if (failure !== null) return { kind: isMissing(failure) ? 'missing' : 'unknown' };
    return stateOfSetup(answer);
  }

  async cancelSetup(reference: string): Promise<ProviderSetupState> {
    const { answer, failure } = await this.client.request('setup_intents/cancel', (sdk) =>
      sdk.setupIntents.cancel(reference),
    );
    if (answer !== null) return stateOfSetup(answer);
    // With this code, the setup succeeded or was canceled meanwhile.
    const isOther = failure.code === 'setup_intent_unexpected_state';
    return isOther ? this.retrieveSetup(reference) : { kind: 'unknown' };
  }

  /** @throws {Error} when Stripe does not answer */
  async setupAction(reference: string): Promise<ClientAction | null> {
    const { answer } = await this.client.request('setup_intents/retrieve', (sdk) =>
      sdk.setupIntents.retrieve(reference),
    );
    if (answer === null) throw new Error(`Stripe did not return the setup ${reference}.`);
    const { client_secret: clientSecret } = answer;
    const isWaiting = stateOfSetup(answer).kind === 'waiting';
    return isWaiting && clientSecret !== null ? { clientSecret } : null;
  }

  async prepare(
    request: ChargeRequest,
    customer: string,
  ): Promise<PreparedCharge | ProviderOutcome> {
    const { idempotencyKey, paymentId } = request;
    const amount = toStripeAmount(request.amount, request.currency);
    if (amount === null) return AMOUNT_NOT_CHARGEABLE;
    const parameters = {
      ...intentParameters(request, this.client.environment),
      amount,
      customer,
    };
    const { answer, failure } = await this.client.request(
      'payment_intents',
      (sdk) => sdk.paymentIntents.create(parameters, { idempotencyKey }),
      { payment_id: paymentId },
    );
    if (answer !== null) return { kind: 'prepared', reference: answer.id };
    if (failure.code !== 'resource_missing') return outcomeOfFailure(failure);
    return outcomeOfMissing(failure, await this.readCustomer(customer));
  }

  async confirm(
    reference: string,
    { session, idempotencyKey, paymentId }: ChargeRequest,
  ): Promise<ProviderOutcome> {
    const parameters = session === 'off' ? { off_session: true } : {};
    const { answer, failure } = await this.client.request(
      'payment_intents/confirm',
      (sdk) => sdk.paymentIntents.confirm(reference, parameters, { idempotencyKey }),
      { payment_id: paymentId },
    );
    if (answer !== null) return this.outcomeOfConfirmed(answer);
    let outcome = outcomeOfFailure(failure);
    if (failure.code === 'payment_intent_unexpected_state') {
      const seen = await this.retrieve(reference);
      if (seen.kind !== 'prepared') return seen;
      // The intent cannot be confirmed although it is only prepared, for example without a payment method.
      outcome = failureOfDecline(failure);
    }
    if (outcome.kind !== 'failed') return outcome;
    return (await this.isCanceled(reference)) ? outcome : { kind: 'unknown' };
  }

  async cancel(reference: string): Promise<ProviderOutcome> {
    if (!(await this.isCanceled(reference))) return { kind: 'unknown' };
    return { kind: 'canceled', reference };
  }

  async retrieve(reference: string): Promise<PreparedCharge | ProviderOutcome> {
    const { answer } = await this.client.request(
      'payment_intents/retrieve',
      (sdk) => sdk.paymentIntents.retrieve(reference),
      { provider_reference: reference },
    );
    if (answer === null) return { kind: 'unknown' };
    const state = stateOfIntent(answer);
    return state.kind === 'prepared' ? state : this.outcomeOfConfirmed(answer);
  }

  find(query: ChargeQuery): Promise<string | NotSentOutcome | null> {
    return findCharge(this.client, query);
  }

  async refund(request: ProviderRefundRequest): Promise<ProviderOutcome> {
    const { refundId, chargeReference, idempotencyKey } = request;
    const amount = toStripeAmount(request.amount, request.currency);
    if (amount === null) return AMOUNT_NOT_CHARGEABLE;
    const metadata = { environment: this.client.environment, refund_id: refundId };
    const parameters = { payment_intent: chargeReference, amount, metadata };
    const { answer, failure } = await this.client.request(
      'refunds',
      (sdk) => sdk.refunds.create(parameters, { idempotencyKey }),
      { refund_id: refundId },
    );
    return answer === null ? outcomeOfRefundFailure(failure) : outcomeOfRefund(answer);
  }

  async retrieveRefund(reference: string): Promise<ProviderOutcome> {
    const { answer } = await this.client.request(
      'refunds/retrieve',
      (sdk) => sdk.refunds.retrieve(reference),
      { provider_reference: reference },
    );
    return answer === null ? { kind: 'unknown' } : outcomeOfRefund(answer);
  }

  async listRefunds(chargeReference: string): Promise<readonly ListedRefund[] | NotSentOutcome> {
    const { answer } = await this.client.request(
      'refunds/list',
      (sdk) =>
        sdk.refunds
          .list({ payment_intent: chargeReference, limit: 100 })
          .autoPagingToArray({ limit: 10_000 }),
      { provider_reference: chargeReference },
    );
    return answer?.map(listedRefundOf) ?? NOT_SENT;
  }

  async retrieveUnrecordedCharge(reference: string): Promise<UnrecordedChargeState> {
    const { answer, failure } = await this.client.request('payment_intents/retrieve', (sdk) =>
      sdk.paymentIntents.retrieve(reference),
    );
    if (failure !== null) return { kind: isMissing(failure) ? 'missing' : 'unknown' };
    return unrecordedChargeOf(answer, this.client.environment);
  }

  async retrieveUnrecordedRefund(reference: string): Promise<UnrecordedRefundState> {
    const { answer, failure } = await this.client.request('refunds/retrieve', (sdk) =>
      sdk.refunds.retrieve(reference, { expand: ['payment_intent'] }),
    );
    if (failure !== null) return { kind: isMissing(failure) ? 'missing' : 'unknown' };
    return unrecordedRefundOf(answer);
  }

  async retrieveDispute(reference: string): Promise<ProviderDisputeState> {
    const { answer, failure } = await this.client.request('disputes/retrieve', (sdk) =>
      sdk.disputes.retrieve(reference, { expand: ['payment_intent'] }),
    );
    if (failure !== null) return { kind: isMissing(failure) ? 'missing' : 'unknown' };
    return disputeOf(answer);
  }

  /** @throws {Error} when Stripe does not answer */
  async clientAction(reference: string): Promise<ClientAction | null> {
    const { answer } = await this.client.request('payment_intents/retrieve', (sdk) =>
      sdk.paymentIntents.retrieve(reference),
    );
    if (answer === null) throw new Error(`Stripe did not return the charge ${reference}.`);
    const clientSecret = answer.status === 'requires_action' ? answer.client_secret : null;
    return clientSecret === null ? null : { clientSecret };
  }

  /** Returns null if this account has never had the customer, or if Stripe does not answer. */
  private async readCustomer(id: string): Promise<Stripe.Customer | Stripe.DeletedCustomer | null> {
    const about = { provider_reference: id };
    const read = (sdk: Stripe) => sdk.customers.retrieve(id);
    return (await this.client.request('customers/retrieve', read, about)).answer;
  }

  /**
   * Returns the outcome of a confirmed payment intent. Cancels a declined intent first, so that it cannot be paid with
   * another card.
   */
  private async outcomeOfConfirmed(intent: Stripe.PaymentIntent): Promise<ProviderOutcome> {
    const state = stateOfIntent(intent);
    if (state.kind === 'prepared') return { kind: 'unknown' };
    if (state.kind !== 'declined') return state;
    if (!(await this.isCanceled(state.reference))) return { kind: 'unknown' };
    const outcome = stateOfIntent({ ...intent, status: 'canceled' });
    return outcome.kind === 'failed' ? outcome : { kind: 'unknown' };
  }

  /** Cancels a payment intent. Returns true if the intent is then canceled: no money has moved, and none will move. */
  private async isCanceled(reference: string): Promise<boolean> {
    const { answer, failure } = await this.client.request('payment_intents/cancel', (sdk) =>
      sdk.paymentIntents.cancel(reference),
    );
    if (failure?.code !== 'payment_intent_unexpected_state') return answer?.status === 'canceled';
    const seen = await this.client.request('payment_intents/retrieve', (sdk) =>
      sdk.paymentIntents.retrieve(reference),
    );
    return seen.answer?.status === 'canceled';
  }
}
