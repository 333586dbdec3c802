import { Injectable } from '@nestjs/common';
import { multiply, parseExact, rational, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import { chargeEvents, type ChargedEvents, type PercentagePrice } from '../../core/rating';
import { usageArchived, type UsageEventPage, type UsageQuery, UsageStore } from '../metering';
import type { UsageGroup } from './domain/usage';

const EVENTS_AT_ONCE = 1_000;

/** Calculates the charges of percentage prices for events, which it reads in pages. */
@Injectable()
export class ChargedEventsService {
  constructor(private readonly usage: UsageStore) {}

  /**
   * Returns the charges of a percentage price for the events that the query counts, in time order.
   * @param group the only group whose events are charged; null: all groups
   * @throws {ProblemError} `usage_archived`
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

/** Reads the value of a counted event: a JSON number, or a decimal as text. */
function numberOf(value: unknown): Rational {
  const [, digits = '', exponent = '0'] = /^([^e]+)(?:e(.+))?$/.exec(String(value)) ?? [];
  const power = 10n ** BigInt(Math.abs(Number(exponent)));
  return multiply(
    parseExact(digits),
    exponent.startsWith('-') ? rational(1n, power) : rational(power),
  );
}
