import type Stripe from 'stripe';
import { type Account } from './account';
import { invalidRequest } from './errors';

type MandateData =
  | ''
  | null
  | {
      readonly customer_acceptance?: {
        readonly type: string;
        readonly accepted_at?: number;
        readonly online?: { readonly ip_address?: string; readonly user_agent?: string };
      };
    };

/**
 * Returns the mandate of a bank debit, or null for a card. The first debit creates the mandate from the customer's
 * acceptance; later debits of the same payment method use it.
 *
 * @throws Refusal (400) for a debit without the customer's acceptance.
 */
export function mandateFor(
  account: Account,
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  method: Stripe.PaymentMethod,
  data: MandateData | undefined,
): string | null {
  if (method.type !== 'sepa_debit') return null;
  const acceptance = data === '' ? undefined : data?.customer_acceptance;
  if (!acceptance) {
    const existing = [...account.mandates.values()].findLast(
      ({ payment_method: of, status }) => of === method.id && status === 'active',
    );
    if (existing) return existing.id;
    throw invalidRequest(
      `A mandate is required to use ${method.type}: provide mandate_data, or a payment method that has been set up.`,
      { code: `${intent.object}_mandate_invalid`, param: 'mandate_data' },
    );
  }
  const { online } = acceptance;
  if (acceptance.type === 'online' && (!online?.ip_address || !online.user_agent)) {
    throw invalidRequest('Missing required param: mandate_data[customer_acceptance][online].', {
      code: 'parameter_missing',
      param: 'mandate_data[customer_acceptance][online]',
    });
  }
  const mandate = {
    id: account.newId('mandate'),
    object: 'mandate',
    customer_acceptance: {
      accepted_at: acceptance.accepted_at ?? account.now,
      type: acceptance.type,
      ...(online && {
        online: { ip_address: online.ip_address ?? null, user_agent: online.user_agent ?? null },
      }),
    },
    livemode: account.livemode,
    multi_use: {},
    payment_method: method.id,
    payment_method_details: {
      type: 'sepa_debit',
      sepa_debit: { reference: account.newId('ref'), url: 'https://hooks.stripe.test/mandate' },
    },
    status: 'active',
    type: 'multi_use',
  } satisfies Stripe.Mandate;
  account.mandates.set(mandate.id, mandate);
  return mandate.id;
}
