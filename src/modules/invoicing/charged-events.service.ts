import { Injectable } from '@nestjs/common';
import { multiply, parseExact, rational, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import {
  chargeEvents,
  type ChargedEvents,
  type EventCharger,
  type PercentagePrice,
} from '../../core/rating';
import { usageArchived, type UsageQuery, UsageStore } from '../metering';
import type { UsageGroup } from './domain/usage';

/** Returns the charges for the events of one group; null: for the events of all groups together. */
export type ChargesOf = (group: UsageGroup | null) => ChargedEvents;

/** Calculates what percentage prices charge for single usage events. */
@Injectable()
export class ChargedEventsService {
  constructor(private readonly usage: UsageStore) {}

  /**
   * Returns a function that gives the charges for the events that `query` counts. Reads the events of all groups at
   * once, in the caller's transaction.
   * @param isByGroup true: each group is charged separately. False: all groups are charged together, as the group null
   * @throws {ProblemError} `usage_archived` if some of the events are stored only in archive files
   */
  async charge(price: PercentagePrice, query: UsageQuery, isByGroup: boolean): Promise<ChargesOf> {
    const { valueProperty } = query.meter;
    invariant(valueProperty !== null, 'the meter of a percentage price has a value property');
    const lastArchived = (await this.usage.listArchived([query])).flat().at(-1);
    if (lastArchived !== undefined) {
      throw usageArchived(
        lastArchived.endAt,
        `A percentage price needs each event of customer ${query.customerId}. A simulation can name other customers, or a period after that instant.`,
      );
    }
    const chargers = new Map<string, EventCharger>();
    const chargerOf = (group: UsageGroup | null): EventCharger => {
      const key = JSON.stringify(isByGroup ? group : null);
      const charger = chargers.get(key) ?? chargeEvents(price);
      chargers.set(key, charger);
      return charger;
    };
    for await (const events of this.usage.readCounted(query)) {
      for (const { group, properties } of events) {
        chargerOf(group).add(numberOf(properties[valueProperty]));
      }
    }
    return (group) => chargerOf(group).charged();
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
