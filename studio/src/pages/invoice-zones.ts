import { $api } from '../api/client';
import type { Invoice } from '../api/objects';
import { knownZone } from '../format/text';

export interface InvoiceZones {
  /** Time zone of dates such as the due date: that of the customer. */
  readonly ofDates: string;
  /** Time zone of periods: that of the subscription, or else that of the customer. */
  readonly ofPeriods: string;
}

/** Returns the time zones in which the PDF of an invoice shows dates and periods; UTC as long as they are not known. */
export function useInvoiceZones({ customer_id, subscription_id }: Invoice): InvoiceZones {
  const customer = $api.useQuery('get', '/v1/customers/{id}', {
    params: { path: { id: customer_id } },
  });
  const subscription = $api.useQuery(
    'get',
    '/v1/subscriptions/{id}',
    { params: { path: { id: subscription_id ?? '' } } },
    { enabled: subscription_id !== null },
  );
  const ofCustomer = customer.data?.timezone;
  const ofSubscription = subscription.data?.timezone;
  return {
    // A deleted customer cannot be read.
    ofDates: knownZone(ofCustomer ?? ofSubscription ?? 'UTC'),
    ofPeriods: knownZone(ofSubscription ?? ofCustomer ?? 'UTC'),
  };
}
