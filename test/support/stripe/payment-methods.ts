import type Stripe from 'stripe';
import { type Account } from './account';
import { cardError, invalidRequest, noSuch } from './errors';
import { fullAddress, mergedMetadata } from './fields';
import { type RequestParameters } from './parameters';
import { TEST_ACCOUNTS, TEST_CARDS } from './test-methods';

export function createPaymentMethod(
  account: Account,
  parameters: RequestParameters['paymentMethods.create'],
): Stripe.PaymentMethod {
  const { type, sepa_debit: debit, billing_details: details } = parameters;
  if (type !== 'sepa_debit' || !debit) {
    throw invalidRequest(
      'The test double of Stripe creates only methods of type sepa_debit. Use the test tokens for cards, such as pm_card_visa.',
      { param: 'type' },
    );
  }
  const [token] =
    Object.entries(TEST_ACCOUNTS).find(([, { iban }]) => iban === debit.iban.replaceAll(' ', '')) ??
    [];
  if (token === undefined) {
    throw invalidRequest('The IBAN you provided is invalid.', {
      code: 'invalid_bank_account_iban',
      param: 'sepa_debit[iban]',
    });
  }
  if (!details?.name || !details.email) {
    throw invalidRequest(
      'Missing required param: billing_details[name] or billing_details[email].',
      {
        code: 'parameter_missing',
        param: 'billing_details',
      },
    );
  }
  const method = newMethod(account, token);
  method.billing_details = {
    address: details.address ? fullAddress(details.address) : null,
    email: details.email,
    name: details.name,
    phone: details.phone === undefined || details.phone === '' ? null : details.phone,
    tax_id: null,
  };
  method.metadata = mergedMetadata({}, parameters.metadata);
  return method;
}

/**
 * Returns the payment method with this id. A test token creates a new method each time, as at Stripe.
 *
 * @throws Refusal if there is none: 404 for an id in the path, 400 for a parameter.
 */
export function findMethod(account: Account, id: string, param: string): Stripe.PaymentMethod {
  if (Object.hasOwn(TEST_CARDS, id) || Object.hasOwn(TEST_ACCOUNTS, id)) {
    return newMethod(account, id);
  }
  const method = account.paymentMethods.get(id);
  if (!method) throw noSuch('PaymentMethod', id, param);
  return method;
}

/** @throws Refusal (402) if the bank refuses, (400) if the method belongs to a customer or is spent. */
export function attach(account: Account, id: string, customer: string): Stripe.PaymentMethod {
  const method = findMethod(account, id, 'id');
  if (method.customer === customer) return method;
  if (method.customer !== null) {
    throw invalidRequest(
      'The payment method you provided has already been attached to a customer.',
    );
  }
  checkUnspent(account, method);
  const decline = account.behaviours.get(method.id)?.attach;
  if (decline) throw cardError(decline, {});
  method.customer = customer;
  account.record('payment_method.attached', method);
  return method;
}

/** @throws Refusal (400) if the method has no customer. */
export function detach(account: Account, id: string): Stripe.PaymentMethod {
  const method = findMethod(account, id, 'id');
  if (method.customer === null) {
    throw invalidRequest(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    );
  }
  const previous = { customer: method.customer };
  for (const customer of account.customers.values()) {
    if (customer.invoice_settings.default_payment_method === method.id) {
      customer.invoice_settings.default_payment_method = null;
    }
  }
  method.customer = null;
  account.spentMethods.add(method.id);
  account.record('payment_method.detached', method, previous);
  return method;
}

/** @throws Refusal (400) for a method that was detached, or used without a customer. */
export function checkUnspent(account: Account, method: Stripe.PaymentMethod): void {
  if (!account.spentMethods.has(method.id)) return;
  throw invalidRequest(
    'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
    { param: 'payment_method' },
  );
}

function newMethod(account: Account, token: string): Stripe.PaymentMethod {
  const card = TEST_CARDS[token];
  const debit = TEST_ACCOUNTS[token];
  const behaviour = (card ?? debit)?.behaviour;
  if (!behaviour) throw new Error(`No test method has the token ${token}.`);
  const method = {
    id: account.newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    created: account.now,
    customer: null,
    customer_account: null,
    livemode: account.livemode,
    metadata: {},
    type: card ? 'card' : 'sepa_debit',
    ...(card && { card: cardDetails(account, card.brand, card.last4) }),
    ...(debit && {
      sepa_debit: {
        bank_code: debit.iban.slice(4, 12),
        branch_code: '',
        country: debit.iban.slice(0, 2),
        fingerprint: `fingerprint${debit.iban.slice(-4)}`,
        generated_from: { charge: null, setup_attempt: null },
        last4: debit.iban.slice(-4),
      },
    }),
  } satisfies Stripe.PaymentMethod;
  account.paymentMethods.set(method.id, method);
  account.behaviours.set(method.id, behaviour);
  return method;
}

function cardDetails(account: Account, brand: string, last4: string): Stripe.PaymentMethod.Card {
  return {
    brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'unchecked' },
    country: 'US',
    display_brand: brand,
    exp_month: new Date(account.nowMs).getUTCMonth() + 1,
    exp_year: new Date(account.nowMs).getUTCFullYear() + 1,
    fingerprint: `fingerprint${last4}`,
    funding: 'credit',
    generated_from: null,
    last4,
    networks: { available: [brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}
