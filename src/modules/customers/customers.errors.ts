import { defineNotFound, defineProblem } from '../../platform/errors';

export const customerNotFound = defineNotFound(
  'customer_not_found',
  'a customer',
  'the customer was deleted',
);

export const customerExternalIdTaken = defineProblem({
  code: 'customer_external_id_taken',
  kind: 'conflict',
  title: 'The external id belongs to another customer',
  meaning:
    '`external_id` is unique among customers that are not deleted. Find its customer with `?external_id=`.',
  detail: (externalId: string) =>
    `A customer with the external id ${JSON.stringify(externalId)} already exists. Find it with ?external_id=.`,
});

export const customerCurrencyLocked = defineProblem({
  code: 'customer_currency_locked',
  kind: 'conflict',
  title: 'The currency of the customer can no longer change',
  meaning:
    'A payment, a subscription or an invoice refers to the customer (`currency_locked`), which fixes its currency.',
  detail: (id: string, currency: string | null) =>
    `The currency of the customer ${id} is fixed as ${currency ?? 'none'}.`,
});

export const customerCurrencyMismatch = defineProblem({
  code: 'customer_currency_mismatch',
  kind: 'rule_broken',
  title: 'The customer is billed in another currency',
  meaning:
    'A customer is billed in one currency: the chosen one, or that of its first amount. `customer_currency` holds it.',
  occurrence: (customerCurrency: string | null, currency: string | null) => ({
    detail:
      currency === null
        ? 'The customer has no currency yet, and the request has none. Send `currency`.'
        : `The customer is billed in ${customerCurrency ?? 'no currency'}, not in ${currency}.`,
    ...(customerCurrency === null ? {} : { extensions: { customer_currency: customerCurrency } }),
  }),
});
