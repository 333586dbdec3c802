import { Injectable } from '@nestjs/common';
import { multiply, parseExact, rational, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { chargeEvents, type ChargedEvents, type PercentagePrice } from '../../core/rating';
import { usageArchived, type UsageEventPage, type UsageQuery, UsageStore } from '../metering';
import type { UsageGroup } from './domain/usage';

const EVENTS_AT_ONCE = 1_000;

/** Calculates what percentage prices charge for single usage events. */
@Injectable()
export class ChargedEventsService {
  constructor(private readonly usage: UsageStore) {}

  /**
   * Returns the sums from which the price of all events that `query` counts can be calculated.
   * @param group charges only the events of this group; null: of all groups
   * @throws {ProblemError} `usage_archived` if some of the events are stored only in archive files
   */
  async charge(
    price: PercentagePrice,
    query: UsageQuery,
    group: UsageGroup | null,
  ): Promise<ChargedEvents> {
    const { valueProperty } = query.meter;
    invariant(valueProperty !== null, 'the meter of a percentage price has a value property');
    const lastArchived = (await this.usage.listArchived([query])).flat().at(-1);
    if (lastArchived !== undefined) throw usageArchived(lastArchived.endAt);
    const charger = chargeEvents(price);
    let after: string | null = null;
    do {
      const request = { after, limit: EVENTS_AT_ONCE };
      const page: UsageEventPage = await this.usage.listCounted(query, group, request);
      for (const { properties } of page.items) charger.add(numberOf(properties[valueProperty]));
      after = page.next;
    } while (after !== null);
    return charger.charged();
  }
}

/** Parses the value of a counted event: a JSON number, or a decimal number in a string. */
function numberOf(value: unknown): Rational {
  const [, digits = '', exponent = '0'] = /^([^e]+)(?:e(.+))?$/.exec(String(value)) ?? [];
  const power = 10n ** BigInt(Math.abs(Number(exponent)));
  return multiply(
    parseExact(digits),
    exponent.startsWith('-') ? rational(1n, power) : rational(power),
  );
}
