import { verifyLedger } from '../ledger';
import type { Invoice } from '../story';
import { eventsOfAll, type TestApp } from '../test-app';
import type { ReferenceInvoice } from './bill';
import { assertBooks } from './books';
import { type Exemption, TAX_RATES } from './catalog';
import type { EngineUnderTest } from './commands';
import type { BilledLine } from './line';
import type { Reference } from './model';
import type { Redemption } from './redemption';
import { sum } from './money';
import { assertCreditWasPaid, assertMoney } from './money-moved';
import { billsUsageOf, heldAt } from './subscription';

/** Asserts the conditions at the end of a sequence: invariants of the engine, and agreement with the reference. */
export async function assertAgreement(
  engine: TestApp,
  real: EngineUnderTest,
  model: Reference,
): Promise<void> {
  const invoices = await invoicesOf(engine, real.customerId);
  for (const invoice of invoices) assertAddsUp(invoice);
  const rateIds = await real.catalog.taxRateIds([...TAX_RATES.keys()]);
  expect(invoices.map((invoice) => shown(invoice, real.subscriptionIds, rateIds))).toEqual(
    model.invoices.map(expected),
  );
  await assertPeriods(engine, real, model);
  await assertStandings(engine, real, model);
  await assertRedemptions(engine, real, model);
  await assertNumbers(engine);
  await assertProof(engine, real, model);
  const noteIds = await real.noteIds();
  await assertCreditNotes(engine, noteIds, model);
  await assertBooks(engine, real, model);
  expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  await assertCreditWasPaid(engine, real, model);
  const invoiceIds = invoices.map(({ id }) => id);
  const moneyIds = await assertMoney(engine, real, model, invoiceIds);
  const ids = { invoices: invoiceIds, notes: noteIds, ...moneyIds };
  await assertEvents(engine, real.subscriptionIds, ids, model);
}

interface BilledInvoice extends Invoice {
  readonly subscription_id: string;
  readonly attempt_count: number;
  readonly amount_credited: number;
  readonly amount_paid: number;
  readonly tax_note: string | null;
  readonly taxes: readonly { readonly tax_rate_id: string; readonly tax: number }[];
}

/** Returns the invoices, oldest first. */
async function invoicesOf(engine: TestApp, customerId: string): Promise<readonly BilledInvoice[]> {
  const found: BilledInvoice[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const path = `/v1/invoices?limit=100&customer_id=${customerId}${query}`;
    const { body } = await engine.http.get(path);
    const page = body as { data: readonly BilledInvoice[]; next_cursor: string | null };
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found.reverse();
}

function assertAddsUp({ lines, ...invoice }: Invoice): void {
  const sumOf = (of: (line: Invoice['lines'][number]) => number): number =>
    lines.reduce((total, line) => total + of(line), 0);
  expect({
    subtotal: sumOf(({ amount }) => amount),
    discount: sumOf(({ discount }) => discount),
    total: invoice.subtotal - invoice.discount + invoice.tax,
    due: invoice.total - invoice.credit_applied + invoice.credited_to_balance,
  }).toEqual({
    subtotal: invoice.subtotal,
    discount: invoice.discount,
    total: invoice.total,
    due: invoice.amount_due,
  });
}

function shown(
  invoice: BilledInvoice,
  subscriptionIds: readonly string[],
  rateIds: readonly string[],
): object {
  if (invoice.status === 'draft') return { reason: invoice.reason, status: 'draft' };
  return {
    subscription: subscriptionIds.indexOf(invoice.subscription_id),
    reason: invoice.reason,
    subtotal: invoice.subtotal,
    discount: invoice.discount,
    tax: invoice.tax,
    taxNote: invoice.tax_note,
    taxes: invoice.taxes
      .filter(({ tax }) => tax !== 0)
      .map(({ tax_rate_id, tax }) => `${rateIds.indexOf(tax_rate_id)}: ${tax}`)
      .sort(),
    total: invoice.total,
    creditApplied: invoice.credit_applied,
    creditedToBalance: invoice.credited_to_balance,
    due: invoice.amount_due,
    credited: invoice.amount_credited,
    paid: invoice.amount_paid,
    status: invoice.status,
    attempts: invoice.attempt_count,
    overdueAt: invoice.overdue_at,
    lines: invoice.lines.map(({ type, amount, discount, tax, period_start, period_end }) =>
      [type, amount, `-${discount}`, `tax ${tax}`, period_start ?? '', period_end ?? ''].join(' '),
    ),
  };
}

function expected(invoice: ReferenceInvoice): object {
  const { subscription, reason, lines, status } = invoice;
  // Leaves out the amounts of a draft, which are those known when the draft was created.
  if (status === 'draft') return { reason, status };
  return {
    subscription,
    reason,
    subtotal: Number(invoice.subtotal),
    discount: Number(invoice.discount),
    tax: Number(invoice.tax),
    taxNote: TAX_NOTES[statedOf(invoice)],
    taxes: taxesOf(lines),
    total: Number(invoice.total),
    creditApplied: Number(invoice.creditApplied),
    creditedToBalance: Number(invoice.creditedToBalance),
    due: Number(invoice.due),
    credited: Number(invoice.credited),
    paid: Number(invoice.paid),
    status,
    attempts: invoice.attempts,
    overdueAt: invoice.overdueAt === null ? null : new Date(invoice.overdueAt).toISOString(),
    lines: lines.map(lineOf),
  };
}

const TAX_NOTES = { none: null, exempt: 'exempt', reverse: 'reverse_charge' } as const;

/** Returns the exemption that an invoice states. Among the exemptions of its charges, reverse charge takes precedence. */
function statedOf({ lines, exemption }: ReferenceInvoice): Exemption {
  const charges = lines.filter(({ back }) => back === null);
  const found = charges.map(({ added }) => added?.exemption ?? exemption);
  if (found.length === 0) return exemption;
  if (found.includes('reverse')) return 'reverse';
  return found.includes('exempt') ? 'exempt' : 'none';
}

/** Returns the tax of each rate, without taxes of zero. */
function taxesOf(lines: readonly BilledLine[]): readonly string[] {
  const taxes = lines.flatMap((line) => line.taxes);
  return TAX_RATES.flatMap((_, rate) => {
    const tax = sum(taxes.filter((one) => one.rate === rate).map(({ amount }) => amount));
    return tax === 0n ? [] : [`${rate}: ${tax}`];
  });
}

function lineOf({ type, amount, discount, tax, from, to }: BilledLine): string {
  const [start, end] = [from, to].map((instant) => new Date(instant).toISOString());
  return [type, amount, `-${discount}`, `tax ${tax}`, start, end].join(' ');
}

async function assertPeriods(
  engine: TestApp,
  { subscriptionIds }: EngineUnderTest,
  model: Reference,
): Promise<void> {
  const rows = await engine.database.query<{ id: string; from: Date; to: Date }>(
    `SELECT subscription_id AS id, start_at AS from, end_at AS to FROM subscription_period
     WHERE subscription_id = ANY ($1) AND NOT is_trial AND start_at < end_at
     ORDER BY start_at, end_at`,
    [subscriptionIds],
  );
  for (const [index, id] of subscriptionIds.entries()) {
    const periods = rows.filter((row) => row.id === id);
    const spans = model.subscription(index).spans.filter(({ from, to }) => from < to);
    expect(periods.map(({ from, to }) => [from.getTime(), to.getTime()])).toEqual(
      spans.map(({ from, to }) => [from, to]),
    );
    for (const [place, { from }] of periods.entries()) {
      const before = periods[place - 1];
      if (before !== undefined) expect(from.getTime()).toBeGreaterThanOrEqual(before.to.getTime());
    }
  }
}

async function assertStandings(
  engine: TestApp,
  { subscriptionIds }: EngineUnderTest,
  { subscriptions }: Reference,
): Promise<void> {
  const rows = await engine.database.query<{ id: string; status: string }>(
    'SELECT id, status FROM subscription WHERE id = ANY ($1)',
    [subscriptionIds],
  );
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  expect(subscriptionIds.map((id) => statuses.get(id))).toEqual(
    subscriptions.map(({ status }) => status),
  );
}

/** Compares the coupons of each subscription with their discounts and remaining amounts, newest first. */
async function assertRedemptions(
  engine: TestApp,
  { subscriptionIds }: EngineUnderTest,
  { subscriptions }: Reference,
): Promise<void> {
  for (const [index, id] of subscriptionIds.entries()) {
    const { body } = await engine.http.get(`/v1/subscriptions/${id}/coupons`);
    const { data } = body as { data: readonly ShownRedemption[] };
    expect(
      data.map((one) => ({
        ...{ endsAt: one.ends_at, applied: one.applied_amount, left: one.remaining_amount ?? 0 },
        ...{ isOver: one.ended_at !== null, isRemoved: one.removed_at !== null },
      })),
    ).toEqual([...(subscriptions[index]?.redemptions ?? [])].reverse().map(expectedRedemption));
  }
}

interface ShownRedemption {
  readonly applied_amount: number;
  readonly remaining_amount: number | null;
  readonly ends_at: string | null;
  readonly ended_at: string | null;
  readonly removed_at: string | null;
}

function expectedRedemption(redemption: Redemption): object {
  const { endsAt, uses, left, isOver, isRemoved, isUsedUp } = redemption;
  const counting = uses.filter(({ invoice }) => invoice.status !== 'void');
  return {
    endsAt: endsAt === null ? null : new Date(endsAt).toISOString(),
    applied: Number(sum(counting.map((use) => use.taken - use.returned - use.unusable))),
    left: Math.max(Number(left ?? 0n), 0),
    isOver: isOver || isUsedUp,
    isRemoved,
  };
}

async function assertNumbers(engine: TestApp): Promise<void> {
  const [row] = await engine.database.query<{ invoices: number; numbers: number; last: string }>(
    `SELECT count(*)::int AS invoices, count(DISTINCT number)::int AS numbers,
       coalesce(max(number), 'TEST-000000') AS last FROM invoice WHERE status <> 'draft'`,
  );
  const { invoices = 0, numbers = 0, last = '' } = row ?? {};
  expect({ numbers, last }).toEqual({
    numbers: invoices,
    last: `TEST-${String(invoices).padStart(6, '0')}`,
  });
}

/** Asserts that all usage is billed, pending for the next invoice, or unbillable. */
async function assertProof(
  engine: TestApp,
  { customerId, meterId }: EngineUnderTest,
  { now, subscriptions, usage }: Reference,
): Promise<void> {
  const query = `customer_id=${customerId}&from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z`;
  const { body } = await engine.http.get(`/v1/meters/${meterId}/proof?${query}`);
  const { events } = usage;
  const counted = events.filter(({ isVoid }) => !isVoid);
  const billed = counted.filter((event) => usage.isBilled(event) === true).length;
  const unbillable = counted.filter(
    (event) =>
      usage.isBilled(event) === null &&
      event.at < now &&
      subscriptions.some((one) => heldAt(one, event.at)) &&
      !subscriptions.some((one) => billsUsageOf(one, event.at)),
  ).length;
  expect(body).toMatchObject({
    accepted: events.length,
    voided: events.length - counted.length,
    counted: counted.length,
    billed,
    unbillable,
    pending: counted.length - billed - unbillable,
  });
}

/** Compares the credit notes, oldest first. */
async function assertCreditNotes(
  engine: TestApp,
  noteIds: readonly string[],
  { creditNotes }: Reference,
): Promise<void> {
  const shownNotes: object[] = [];
  for (const id of noteIds) {
    const { body } = await engine.http.get(`/v1/credit-notes/${id}`);
    const { status, net, tax } = body as { status: string; net: number; tax: number };
    shownNotes.push({ status, net, tax });
  }
  expect(shownNotes).toEqual(
    creditNotes.all.map(({ status, net, tax }) => ({ status, net: Number(net), tax: Number(tax) })),
  );
}

interface Ids {
  readonly invoices: readonly string[];
  readonly notes: readonly string[];
  readonly payments: readonly string[];
  readonly refunds: readonly string[];
}

async function assertEvents(
  engine: TestApp,
  subscriptionIds: readonly string[],
  ids: Ids,
  { subscriptions, invoices, creditNotes, payments }: Reference,
): Promise<void> {
  const kinds = [
    ['subscription', subscriptionIds, subscriptions],
    ['invoice', ids.invoices, invoices],
    ['credit_note', ids.notes, creditNotes.all],
    ['payment', ids.payments, payments.all],
    ['refund', ids.refunds, payments.refunds],
  ] as const;
  const recorded = await eventsOfAll(
    engine,
    kinds.flatMap(([, those]) => those),
  );
  for (const [kind, those, expected] of kinds) {
    for (const [place, id] of those.entries()) {
      const names = expected[place]?.events ?? [];
      expect(recorded.get(id)?.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual(
        names.map((name, index) => `${index + 1} ${kind}.${name}`),
      );
    }
  }
}
