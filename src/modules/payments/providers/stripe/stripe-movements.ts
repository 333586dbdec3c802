import { Injectable } from '@nestjs/common';
import type Stripe from 'stripe';
import { digitsByCode } from '../../../../core/money';
import { isId } from '../../../../platform/ids';
import type {
  CurrentMovement,
  MovementKind,
  MovementPage,
  MovementQuery,
  MovementState,
  ProviderMovement,
  ProviderMovements,
} from '../../domain/provider-movement';
import { fromStripeAmount } from './stripe-amounts';
import { StripeClient } from './stripe-client';
import { isMissing } from './stripe-errors';
import { ownRefundIdOf } from './stripe-metadata';

const PAGE_SIZE = 100;
const SECOND_MS = 1_000;

const INTENT_STATES: Readonly<Record<string, MovementState>> = {
  succeeded: 'succeeded',
  canceled: 'ended',
};
const REFUND_STATES: Readonly<Record<string, MovementState>> = {
  succeeded: 'succeeded',
  failed: 'ended',
  canceled: 'ended',
};

/** Lists charges and refunds at Stripe, newest first. */
@Injectable()
export class StripeMovements implements ProviderMovements {
  constructor(private readonly client: StripeClient) {}

  async list({ kind, from, to, after }: MovementQuery): Promise<MovementPage | null> {
    const parameters = {
      created: { gte: seconds(from), lt: seconds(to) },
      limit: PAGE_SIZE,
      ...(after !== null && { starting_after: after }),
    };
    if (kind === 'charge') {
      const { answer } = await this.client.request('payment_intents/list', (sdk) =>
        sdk.paymentIntents.list(parameters),
      );
      return answer === null
        ? null
        : this.pageOf(answer, (intent) => this.toIntentMovement(intent));
    }
    const { answer } = await this.client.request('refunds/list', (sdk) =>
      sdk.refunds.list(parameters),
    );
    return answer === null ? null : this.pageOf(answer, (refund) => this.toRefundMovement(refund));
  }

  async read(kind: MovementKind, reference: string): Promise<CurrentMovement | 'absent' | null> {
    const { answer, failure } = await (kind === 'charge'
      ? this.client.request('payment_intents/retrieve', async (sdk) => {
          const intent = await sdk.paymentIntents.retrieve(reference, {
            expand: ['latest_charge'],
          });
          return currentOf(this.toIntentMovement(intent), intent);
        })
      : this.client.request('refunds/retrieve', async (sdk) => {
          const refund = await sdk.refunds.retrieve(reference, {
            expand: ['payment_intent.latest_charge'],
          });
          return currentOf(this.toRefundMovement(refund), refund.payment_intent);
        }));
    if (failure !== null) return isMissing(failure) ? 'absent' : null;
    return answer ?? 'absent';
  }

  private pageOf<Item extends { readonly id: string }>(
    { data, has_more: hasMore }: Stripe.ApiList<Item>,
    toMovement: (item: Item) => ProviderMovement | null,
  ): MovementPage {
    return {
      movements: data.flatMap((item) => toMovement(item) ?? []),
      next: hasMore ? (data.at(-1)?.id ?? null) : null,
    };
  }

  /** Returns null if the currency is unknown here: nothing can be booked in it. */
  private toIntentMovement(intent: Stripe.PaymentIntent): ProviderMovement | null {
    const { id: reference, metadata, status } = intent;
    const currency = intent.currency.toUpperCase();
    if (!digitsByCode.has(currency)) return null;
    return {
      kind: 'charge',
      reference,
      subjectId: this.ownPaymentIdIn(metadata),
      chargeReference: null,
      amount: fromStripeAmount(
        status === 'succeeded' ? intent.amount_received : intent.amount,
        currency,
      ),
      currency,
      state: INTENT_STATES[status] ?? 'open',
    };
  }

  /** Returns null if the currency is unknown here: nothing can be booked in it. */
  private toRefundMovement(refund: Stripe.Refund): ProviderMovement | null {
    const { id: reference, metadata, payment_intent: intent } = refund;
    const currency = refund.currency.toUpperCase();
    if (!digitsByCode.has(currency)) return null;
    return {
      kind: 'refund',
      reference,
      subjectId: ownRefundIdOf(metadata),
      isOfOtherEnvironment: metadata?.['environment'] !== this.client.environment,
      chargeReference: typeof intent === 'string' ? intent : (intent?.id ?? null),
      amount: fromStripeAmount(refund.amount, currency),
      currency,
      state: REFUND_STATES[refund.status ?? ''] ?? 'open',
    };
  }

  /** Returns our id in the metadata of a payment intent, or null if this service did not write the metadata. */
  private ownPaymentIdIn({ environment, payment_id: id }: Stripe.Metadata): string | null {
    const isOurs = environment === this.client.environment;
    return isOurs && id !== undefined && isId('pay', id) ? id : null;
  }
}

/**
 * Adds `isChargeRefunded` to a movement (a charge or refund); null if `movement` is null.
 * @param intent payment intent of the charge, expanded with its `latest_charge`
 */
function currentOf(
  movement: ProviderMovement | null,
  intent: Stripe.PaymentIntent | string | null,
): CurrentMovement | null {
  const charge = typeof intent === 'string' ? null : intent?.latest_charge;
  const isChargeRefunded = typeof charge === 'object' && charge?.refunded === true;
  return movement && { ...movement, isChargeRefunded };
}

const seconds = (instant: Date): number => Math.floor(instant.getTime() / SECOND_MS);
