import type { TestApp } from '../test-app';
import { owedOf, type ReferenceInvoice } from './bill';
import type { EngineUnderTest } from './commands';
import { type BilledLine, billedWith, netOf } from './line';
import type { Reference } from './model';
import { sum } from './money';
import { refundedOfInvoice } from './payments';
import { isEnded } from './subscription';

/** Asserts the ledger of the customer, account by account. */
export async function assertBooks(
  engine: TestApp,
  { customerId }: EngineUnderTest,
  model: Reference,
): Promise<void> {
  const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${customerId}`);
  const { data } = body as { data: readonly { account: string; balance: string }[] };
  const balances = new Map<string, bigint>();
  for (const { account, balance } of data) {
    const name = REVENUE.includes(account) ? 'earned' : account;
    balances.set(name, (balances.get(name) ?? 0n) + BigInt(balance));
  }
  const names = [...new Set([...balances.keys(), ...Object.keys(balancesOf(model))])].sort();
  const expected = new Map(Object.entries(balancesOf(model)));
  expect(names.map((name) => `${name} ${balances.get(name) ?? 0n}`)).toEqual(
    names.map((name) => `${name} ${expected.get(name) ?? 0n}`),
  );
}

/** Accounts whose sum is the earned revenue, because the account `revenue` is before discounts. */
const REVENUE = ['revenue', 'discounts'];

/** Returns debits less credits of each account. */
function balancesOf({ invoices, creditNotes, payer, subscriptions, payments }: Reference) {
  const billed = invoices.filter(({ status }) => status !== 'void');
  const lines = billed.flatMap((invoice) => invoice.lines);
  const issued = creditNotes.all.filter(({ status }) => status === 'issued');
  const deferred = subscriptions.map(({ status, period, items }) => {
    if (isEnded({ status }) || period.isOver) return 0n;
    const selling = items.filter(({ isOver }) => !isOver);
    const running = selling.flatMap((item) =>
      item.billed.filter(({ from, fullTo }) => from >= period.from && fullTo === period.to),
    );
    return sum(running.flatMap(billedWith).map((line) => stillHeld(line, lines)));
  });
  const paid = payments.all.filter(({ status }) => status === 'succeeded');
  const net = sum(lines.map(netOf)) - sum(issued.map((note) => note.net));
  return {
    accounts_receivable: owedBy(invoices, 'open'),
    bad_debt: owedBy(invoices, 'uncollectible'),
    'cash_clearing:sandbox': sum(paid.map(({ amount, refunded }) => amount - refunded)),
    customer_credit: -sum([
      ...payer.credits.map(({ left }) => left),
      ...paid.map(({ credit, paidOut }) => (credit?.reserved ?? 0n) + paidOut.pending),
    ]),
    refunds: sum(paid.map(refundedOfInvoice)) - sum(issued.map(({ toRefund }) => toRefund)),
    tax_payable: sum(issued.map(({ tax }) => tax)) - sum(lines.map(({ tax }) => tax)),
    deferred_revenue: -sum(deferred),
    earned: sum(deferred) - net,
  };
}

function owedBy(invoices: readonly ReferenceInvoice[], status: ReferenceInvoice['status']): bigint {
  return sum(invoices.filter((one) => one.status === status).map(owedOf));
}

/** Returns the amount of a line, without tax, that neither credit notes nor later invoices credited. */
function stillHeld(line: BilledLine, lines: readonly BilledLine[]): bigint {
  const credits = lines.filter(({ creditedLine }) => creditedLine === line);
  return netOf(line) - line.creditedByNotes.net + sum(credits.map(netOf));
}
