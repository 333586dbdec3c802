import type { Client } from 'pg';
import { post } from './service';

/** One of this many deliveries has failed. */
const FAILED_ONE_IN = 100;

/**
 * Pays the invoices of the template customers in different ways, as in a real business: one is paid and partly
 * refunded, one is declined, one is paid and credited, one is void.
 */
export async function seedActivity(url: string): Promise<void> {
  const create = <Answer>(path: string, body: object): Promise<Answer> =>
    post(`${url}/v1/${path}`, body);
  const answer = await fetch(`${url}/v1/invoices?status=open`);
  const { data } = (await answer.json()) as {
    readonly data: readonly {
      readonly id: string;
      readonly lines: readonly { readonly id: string }[];
    }[];
  };
  const [refunded, declined, credited, voided] = data;
  if (refunded === undefined || declined === undefined) throw new Error('Too few open invoices.');
  if (credited === undefined || voided === undefined) throw new Error('Too few open invoices.');
  const pay = (
    invoice: { readonly id: string },
    method: string,
  ): Promise<{ readonly id: string }> =>
    create(`invoices/${invoice.id}/pay`, { provider: 'sandbox', payment_method_id: method });
  const payment = await pay(refunded, 'pm_sandbox_ok');
  await create(`refunds/payment/${payment.id}`, {
    amount: 500,
    reason: 'Arrived broken',
    idempotencyKey: 'refund',
  });
  await pay(declined, 'pm_sandbox_declined');
  await pay(credited, 'pm_sandbox_ok');
  await create('credit-notes', {
    invoice_id: credited.id,
    lines: [{ invoice_line_id: credited.lines[0]?.id, amount: 500 }],
    reason: 'Two days without service',
    settle: 'credit',
  });
  await create(`invoices/${voided.id}/void`, {});
  await create('webhooks/endpoints', {
    url: 'https://example.com/hooks',
    events: ['invoice.finalized'],
  });
}

/** Stores a delivery for each event of a type, as if the webhooks had been sent. */
export async function deliverEvents(client: Client, type: string): Promise<void> {
  await client.query(
    `INSERT INTO webhook_delivery
       (id, endpoint_id, event_id, event_type, object_id, sequence, kind, status, attempts, fence, created_at, updated_at)
     SELECT 'whd' || right(event.id, -3), endpoint.id, event.id, event.type, event.object_id, event.sequence, 'event',
       CASE WHEN abs(hashtext(event.id)) % $2 = 0 THEN 'failed' ELSE 'succeeded' END, 1, 1,
       event.occurred_at, event.occurred_at
     FROM event CROSS JOIN webhook_endpoint endpoint
     WHERE event.type = $1
     ON CONFLICT DO NOTHING`,
    [type, FAILED_ONE_IN],
  );
}
