import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type CustomerSum, InvoicePaymentsService } from '../invoicing';
import { LedgerChecks, LedgerService } from '../ledger';
import { type CustomerPayments, PaymentsRepository } from './payments.repository';

const CASH_CLEARING = 'cash_clearing:';

/** Proves that the books, the invoices and the payments say the same of the money that moved. */
@Injectable()
export class PaymentLedgerCheck implements OnModuleInit {
  constructor(
    private readonly checks: LedgerChecks,
    private readonly ledger: LedgerService,
    private readonly invoices: InvoicePaymentsService,
    private readonly payments: PaymentsRepository,
  ) {}

  onModuleInit(): void {
    this.checks.register({
      name: 'payments_less_refunds_equal_cash_clearing',
      run: () => this.cash(),
    });
    this.checks.register({
      name: 'payments_applied_equal_invoices_paid',
      run: async () =>
        differing(
          ['payments', await this.sums(({ appliedMinor }) => appliedMinor)],
          ['invoices', byCustomer(await this.invoices.sumPaid())],
        ),
    });
    this.checks.register({
      name: 'payments_under_way_equal_invoices_reserved',
      run: async () =>
        differing(
          ['payments', await this.sums(({ underWayMinor }) => underWayMinor)],
          ['invoices', byCustomer(await this.invoices.sumPending())],
        ),
    });
    this.checks.register({
      name: 'credits_and_payments_left_equal_customer_credit',
      run: async () => {
        const left = await this.sums(({ creditMinor }) => creditMinor);
        const credit = byCustomer(await this.invoices.sumCredit());
        const owed = byCustomer(await this.ledger.customerBalances('customer_credit'));
        return differing(['stored', [...credit, ...left]], ['ledger', negated(owed)]);
      },
    });
    this.checks.register({
      name: 'refunds_less_credit_notes_equal_refunds',
      run: async () => {
        const refunded = await this.sums(({ refundedMinor }) => refundedMinor);
        const noted = byCustomer(await this.invoices.sumToRefund());
        const posted = byCustomer(await this.ledger.customerBalances('refunds'));
        return differing(['stored', [...refunded, ...negated(noted)]], ['ledger', posted]);
      },
    });
  }

  private async cash(): Promise<readonly string[]> {
    const held = (await this.payments.sumHeld()).map(({ provider, currency, amount }) => ({
      key: `${provider} ${currency}`,
      amountMinor: amount,
    }));
    const posted = (await this.ledger.balances())
      .filter(({ account }) => account.startsWith(CASH_CLEARING))
      .map(({ account, currency, amountMinor }) => ({
        key: `${account.slice(CASH_CLEARING.length)} ${currency}`,
        amountMinor,
      }));
    return differing(['payments', held], ['ledger', posted]);
  }

  private async sums(of: (sums: CustomerPayments) => bigint): Promise<readonly KeyedAmount[]> {
    const sums = await this.payments.sumByCustomer();
    return byCustomer(sums.map((one) => ({ ...one, amountMinor: of(one) })));
  }
}

interface KeyedAmount {
  readonly key: string;
  readonly amountMinor: bigint;
}

type Side = readonly [name: string, amounts: readonly KeyedAmount[]];

function byCustomer(sums: readonly CustomerSum[]): readonly KeyedAmount[] {
  return sums.map(({ customerId, currency, amountMinor }) => ({
    key: `${customerId} ${currency}`,
    amountMinor,
  }));
}

function negated(amounts: readonly KeyedAmount[]): readonly KeyedAmount[] {
  return amounts.map(({ key, amountMinor }) => ({ key, amountMinor: -amountMinor }));
}

/** One entry for each key under which the two sides come to different sums, with both. */
function differing([leftName, left]: Side, [rightName, right]: Side): readonly string[] {
  const sumOf = (amounts: readonly KeyedAmount[]): ReadonlyMap<string, bigint> => {
    const sums = new Map<string, bigint>();
    for (const { key, amountMinor } of amounts) {
      sums.set(key, (sums.get(key) ?? 0n) + amountMinor);
    }
    return sums;
  };
  const [leftSums, rightSums] = [sumOf(left), sumOf(right)];
  return [...new Set([...leftSums.keys(), ...rightSums.keys()])]
    .map((key) => ({ key, left: leftSums.get(key) ?? 0n, right: rightSums.get(key) ?? 0n }))
    .filter((one) => one.left !== one.right)
    .map((one) => `${one.key}: ${leftName} ${one.left}, ${rightName} ${one.right}`);
}
