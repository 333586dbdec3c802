import { $api, isNotFound } from '../api/client';
import type { Invoice } from '../api/objects';
import { knownZone } from '../format/text';
import type { Reading } from '../ui/loaded';

/** Time zones of an invoice. Each is a {@link knownZone}, or null while it is not known. */
export interface InvoiceZones {
  /** Time zone of dates such as the due date: that of the customer. */
  readonly ofDates: string | null;
  /** Time zone of periods: that of the subscription, or else that of the customer. */
  readonly ofPeriods: string | null;
  /** The first request for a time zone that failed. */
  readonly failed: Reading<unknown> | undefined;
}

type Zoned = Reading<{ readonly timezone: string }>;

/** Returns the time zone of an object: null while it is not known, undefined if there is no such object. */
function zoneOf({ data, error }: Zoned): string | null | undefined {
  // A deleted customer cannot be read.
  if (isNotFound(error)) return undefined;
  return data === undefined ? null : knownZone(data.timezone);
}

/** Returns the first time zone of an object that exists, or else UTC. */
const firstOf = (...zones: readonly (string | null | undefined)[]): string | null =>
  [...zones, 'UTC'].find((zone) => zone !== undefined) ?? null;

/**
 * Reads the present time zones of the customer and the subscription of an invoice. Its PDF keeps the time zone that the
 * customer had when the invoice was finalized.
 */
export function useInvoiceZones({
  customer_id,
  subscription_id,
}: Pick<Invoice, 'customer_id' | 'subscription_id'>): InvoiceZones {
  const customer = $api.useQuery('get', '/v1/customers/{id}', {
    params: { path: { id: customer_id } },
  });
  const subscription = $api.useQuery(
    'get',
    '/v1/subscriptions/{id}',
    { params: { path: { id: subscription_id ?? '' } } },
    { enabled: subscription_id !== null },
  );
  const ofCustomer = zoneOf(customer);
  const ofSubscription = subscription_id === null ? undefined : zoneOf(subscription);
  return {
    ofDates: firstOf(ofCustomer, ofSubscription),
    ofPeriods: firstOf(ofSubscription, ofCustomer),
    failed: [customer, subscription].find(({ error }) => error !== null && !isNotFound(error)),
  };
}
