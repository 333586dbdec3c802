import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LedgerChecks, LedgerService } from '../ledger';
import { PaymentsRepository } from './payments.repository';

const CASH_CLEARING = 'cash_clearing:';

/** Proves that the books hold the money that payments say moved, less what refunds gave back. */
@Injectable()
export class PaymentLedgerCheck implements OnModuleInit {
  constructor(
    private readonly checks: LedgerChecks,
    private readonly ledger: LedgerService,
    private readonly payments: PaymentsRepository,
  ) {}

  onModuleInit(): void {
    this.checks.register({
      name: 'payments_less_refunds_equal_cash_clearing',
      run: () => this.differences(),
    });
  }

  /** One entry for each provider and currency where the two differ, with both amounts in minor units. */
  private async differences(): Promise<readonly string[]> {
    const held = await this.payments.sumHeld();
    const moved = new Map(
      held.map(({ provider, currency, amount }) => [`${provider} ${currency}`, amount]),
    );
    const posted = new Map(
      (await this.ledger.balances())
        .filter(({ account }) => account.startsWith(CASH_CLEARING))
        .map(({ account, currency, amountMinor }) => [
          `${account.slice(CASH_CLEARING.length)} ${currency}`,
          amountMinor,
        ]),
    );
    return [...new Set([...moved.keys(), ...posted.keys()])]
      .filter((key) => (moved.get(key) ?? 0n) !== (posted.get(key) ?? 0n))
      .map((key) => `${key}: payments ${moved.get(key) ?? 0n}, ledger ${posted.get(key) ?? 0n}`);
  }
}
