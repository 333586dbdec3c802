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

  /**
   * Returns the amounts owed on invoices at an instant, by currency. With `isByCustomer`, returns them for the `limit`
   * customers who owed most in each currency, largest amount first.
   * @param instant null: now
   * @throws {ProblemError} `too_many_reports`
   */
  async read(
    instant: Date | null,
    isByCustomer: boolean,
    limit: number,
  ): Promise<{ readonly at: Date; readonly rows: readonly Receivables[] }> {
    const query = { at: instant ?? this.clock.now(), isNow: instant === null };
    const rows = isByCustomer
      ? await this.receivables.byCustomer(query, limit)
      : await this.receivables.inTotal(query);
    return { at: query.at, rows };
  }
}
