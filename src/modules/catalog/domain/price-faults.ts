import { compare, parseDecimal } from '../../../core/decimal';
import type { Aggregation } from '../../../core/usage';
import type { TermsFault } from '../../../core/terms-fault';
import type { PriceModel, PriceTerms, PriceTier } from './price';

type ModelField =
  | 'amount'
  | 'unitAmount'
  | 'tiers'
  | 'packageSize'
  | 'freeUnits'
  | 'rate'
  | 'fixedAmount'
  | 'freeAmount'
  | 'eventMinimumAmount'
  | 'eventMaximumAmount'
  | 'chargeFlatAtZero';

const WIRE_NAMES: Readonly<Record<ModelField, string>> = {
  amount: 'amount',
  unitAmount: 'unit_amount',
  tiers: 'tiers',
  packageSize: 'package_size',
  freeUnits: 'free_units',
  rate: 'rate',
  fixedAmount: 'fixed_amount',
  freeAmount: 'free_amount',
  eventMinimumAmount: 'event_minimum_amount',
  eventMaximumAmount: 'event_maximum_amount',
  chargeFlatAtZero: 'charge_flat_at_zero',
};

const MODEL_FIELDS = Object.keys(WIRE_NAMES) as readonly ModelField[];

interface FieldsOfModel {
  readonly needed: readonly ModelField[];
  readonly allowed: readonly ModelField[];
}

const TIERED: FieldsOfModel = { needed: ['tiers'], allowed: ['chargeFlatAtZero'] };

const FIELDS_OF: Readonly<Record<PriceModel, FieldsOfModel>> = {
  flat: { needed: ['amount'], allowed: [] },
  per_unit: { needed: ['unitAmount'], allowed: [] },
  graduated: TIERED,
  volume: TIERED,
  package: { needed: ['unitAmount', 'packageSize'], allowed: ['freeUnits'] },
  percentage: {
    needed: ['rate'],
    allowed: ['fixedAmount', 'freeUnits', 'freeAmount', 'eventMinimumAmount', 'eventMaximumAmount'],
  },
};

/** @param pointer JSON pointer to the list, such as `/prices` */
export function faultsOfPrices(
  prices: readonly PriceTerms[],
  pointer: string,
): readonly TermsFault[] {
  return prices.flatMap((terms, index) => faultsOfPrice(terms, `${pointer}/${index}`));
}

/**
 * Returns all contradictions in the terms of one price, for example fields of another model, tiers that do not ascend,
 * a metered price billed in advance, or a minimum above the maximum. The caller has checked that decimal strings are
 * well formed.
 * @param pointer JSON pointer to the price, such as `/prices/0`
 */
export function faultsOfPrice(terms: PriceTerms, pointer: string): readonly TermsFault[] {
  return [
    ...faultsOfFields(terms),
    ...faultsOfNumbers(terms),
    ...(terms.tiers === null ? [] : faultsOfTiers(terms.tiers)),
    ...faultsOfMeter(terms),
  ].map((fault) => ({ ...fault, pointer: `${pointer}${fault.pointer}` }));
}

function faultsOfFields(terms: PriceTerms): readonly TermsFault[] {
  const { needed, allowed } = FIELDS_OF[terms.model];
  return MODEL_FIELDS.flatMap((field) => {
    const pointer = `/${WIRE_NAMES[field]}`;
    if (terms[field] === null) {
      const message = `is required for model ${terms.model}`;
      return needed.includes(field) ? [{ pointer, message }] : [];
    }
    const message = `is not for model ${terms.model}`;
    return needed.includes(field) || allowed.includes(field) ? [] : [{ pointer, message }];
  });
}

function faultsOfNumbers(terms: PriceTerms): readonly TermsFault[] {
  const { model, packageSize, freeUnits, rate, minimumAmount, maximumAmount } = terms;
  const faults: TermsFault[] = [];
  if (packageSize !== null && compareDecimals(packageSize, '0') === 0) {
    faults.push({ pointer: '/package_size', message: 'must be above 0' });
  }
  if (model === 'percentage' && freeUnits !== null && !isWhole(freeUnits)) {
    faults.push({
      pointer: '/free_units',
      message: 'counts events for model percentage and must be a whole number',
    });
  }
  if (rate !== null && compareDecimals(rate, '1') > 0) {
    faults.push({ pointer: '/rate', message: 'is a fraction and must be at most 1' });
  }
  if (minimumAmount !== null && maximumAmount !== null && minimumAmount > maximumAmount) {
    faults.push({ pointer: '/maximum_amount', message: 'must not be below minimum_amount' });
  }
  const { eventMinimumAmount: least, eventMaximumAmount: most } = terms;
  if (least !== null && most !== null && least > most) {
    const message = 'must not be below event_minimum_amount';
    faults.push({ pointer: '/event_maximum_amount', message });
  }
  return faults;
}

function isWhole(decimal: string): boolean {
  return /^\d+(\.0+)?$/.test(decimal);
}

/** Checks that tiers start above zero, ascend strictly and cover every quantity. */
function faultsOfTiers(tiers: readonly PriceTier[]): readonly TermsFault[] {
  if (tiers.length === 0) return [{ pointer: '/tiers', message: 'must hold at least one tier' }];
  return tiers.flatMap(({ upTo }, index) => {
    const pointer = `/tiers/${index}/up_to`;
    const isLast = index === tiers.length - 1;
    if (isLast) return upTo === null ? [] : [{ pointer, message: 'must be null on the last tier' }];
    if (upTo === null) return [{ pointer, message: 'may be null on the last tier only' }];
    const below = tiers[index - 1]?.upTo ?? '0';
    return compareDecimals(upTo, below) > 0
      ? []
      : [{ pointer, message: `must be above ${below}, where the tier begins` }];
  });
}

/**
 * Checks the meter of a price. A metered price must be billed in arrears, because its usage is known only at the end of
 * a period. A `percentage` or `by_group` price needs a meter. A `flat` price must not have a meter.
 */
function faultsOfMeter({ model, timing, meterId, isByGroup }: PriceTerms): readonly TermsFault[] {
  if (meterId === null) {
    return [
      ...(model === 'percentage'
        ? [{ pointer: '/meter_id', message: 'is required for model percentage' }]
        : []),
      ...(isByGroup ? [{ pointer: '/by_group', message: 'is for a price with a meter' }] : []),
    ];
  }
  if (model === 'flat') return [{ pointer: '/meter_id', message: 'is not for model flat' }];
  return timing === 'in_advance'
    ? [{ pointer: '/timing', message: 'must be in_arrears for a price with a meter' }]
    : [];
}

/** Returns -1, 0 or 1 if `left` is below, equal to or above `right`. */
export function compareDecimals(left: string, right: string): -1 | 0 | 1 {
  return compare(parseDecimal(left), parseDecimal(right));
}

export function faultsOfMeteredPrice(
  { model, isByGroup }: PriceTerms,
  meter: { readonly aggregation: Aggregation; readonly groupBy: readonly string[] },
  pointer: string,
): readonly TermsFault[] {
  const faults: TermsFault[] = [];
  if (model === 'percentage' && meter.aggregation !== 'sum') {
    faults.push({
      pointer: `${pointer}/meter_id`,
      message: 'must be a meter with the aggregation sum',
    });
  }
  if (isByGroup && meter.groupBy.length === 0) {
    faults.push({ pointer: `${pointer}/by_group`, message: 'is for a meter with group_by' });
  }
  return faults;
}
