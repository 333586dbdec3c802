import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import type { Receivables } from './domain/receivables';
import { ReceivablesRepository } from './receivables.repository';

@Injectable()
export class ReceivablesService {
  constructor(
    private readonly receivables: ReceivablesRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns what open invoices owe now: by currency, or by currency and customer, the largest first. */
  async read(
    isByCustomer: boolean,
    most: number,
  ): Promise<{ readonly at: Date; readonly rows: readonly Receivables[] }> {
    const at = this.clock.now();
    const rows = isByCustomer
      ? await this.receivables.byCustomer(at, most)
      : await this.receivables.inTotal(at);
    return { at, rows };
  }
}
