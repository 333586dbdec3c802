import type { TestApp } from '../test-app';
import { owedOf } from './bill';
import type { EngineUnderTest } from './commands';
import type { Reference } from './model';
import { sum } from './money';

/** Compares payments and refunds; returns their ids, oldest first. */
export async function assertMoney(
  engine: TestApp,
  real: EngineUnderTest,
  { invoices, payments }: Reference,
  invoiceIds: readonly string[],
): Promise<{ readonly payments: readonly string[]; readonly refunds: readonly string[] }> {
  const found = await paymentsOf(engine, real.customerId);
  expect(
    found.map((payment) => ({
      invoice: payment.invoice_id === null ? -1 : invoiceIds.indexOf(payment.invoice_id),
      status: payment.status,
      amount: payment.amount,
      applied: payment.amount_applied,
      refunded: payment.amount_refunded,
      refundPending: payment.amount_refund_pending,
    })),
  ).toEqual(
    payments.all.map(({ invoice, status, amount, applied, refunded, refundPending }) => ({
      invoice: invoice === null ? -1 : invoices.indexOf(invoice),
      status,
      amount: Number(amount),
      applied: Number(applied),
      refunded: Number(refunded),
      refundPending: Number(refundPending),
    })),
  );
  const refundIds = await real.refundIds();
  expect(refundIds).toHaveLength(payments.refunds.length);
  for (const [place, { payment, amount, status }] of payments.refunds.entries()) {
    const id = refundIds[place] ?? '';
    const ofPayment = found[payments.all.indexOf(payment)]?.id;
    expect(await real.get(`/v1/refunds/${id}`)).toMatchObject({
      payment_id: ofPayment,
      amount: Number(amount),
      status,
    });
  }
  return { payments: found.map(({ id }) => id), refunds: refundIds };
}

/**
 * Asserts that no money was given back twice: the credit balance is at most what was paid and not refunded, plus what
 * invoices owe. A usage correction can give back a unit of rounded tax more (decision 84).
 */
export async function assertCreditWasPaid(
  engine: TestApp,
  { customerId }: EngineUnderTest,
  { payments, invoices }: Reference,
): Promise<void> {
  const { body } = await engine.http.get(`/v1/customers/${customerId}/balance`);
  const { balance } = body as { balance: number };
  const paid = payments.all.filter(({ status }) => status === 'succeeded');
  const kept = sum(paid.map(({ amount, refunded }) => amount - refunded));
  const owed = sum(invoices.map(owedOf));
  const lines = invoices.filter(({ status }) => status !== 'void').flatMap((one) => one.lines);
  const corrections = lines.filter(({ isLate, amount }) => isLate && amount < 0n);
  expect(balance).toBeLessThanOrEqual(Number(kept + owed) + corrections.length);
}

interface Payment {
  readonly id: string;
  readonly invoice_id: string | null;
  readonly status: string;
  readonly amount: number;
  readonly amount_applied: number;
  readonly amount_refunded: number;
  readonly amount_refund_pending: number;
}

/** Returns the payments, oldest first. */
async function paymentsOf(engine: TestApp, customerId: string): Promise<readonly Payment[]> {
  const found: Payment[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const path = `/v1/payments?limit=100&customer_id=${customerId}${query}`;
    const { body } = await engine.http.get(path);
    const page = body as { data: readonly Payment[]; next_cursor: string | null };
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found.reverse();
}
