import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import type { Price } from '../api/objects';
import { money } from '../format/money';
import { showCode } from '../format/text';
import { ObjectLink } from '../ui/links';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

type Terms = Omit<Price, 'id' | 'name' | 'model' | 'timing' | 'meter_id'>;

const ifSet = <Value,>(value: Value | null, text: (value: Value) => string): string | null =>
  value === null ? null : text(value);

/** Returns the terms of a price in words. Unit amounts are in minor units, because they may have fractions. */
function termsOf(price: Price, currency: string): string {
  const show = (minor: number): string => money(minor, currency);
  const texts: Readonly<Record<keyof Terms, string | null>> = {
    amount: ifSet(price.amount, show),
    unit_amount: ifSet(price.unit_amount, (unit) => `${unit} each`),
    package_size: ifSet(price.package_size, (size) => `for each ${size}`),
    rate: ifSet(price.rate, (rate) => `${rate} of the amount`),
    fixed_amount: ifSet(
      price.fixed_amount === 0 ? null : price.fixed_amount,
      (fixed) => `${show(fixed)} for each event`,
    ),
    event_minimum_amount: ifSet(
      price.event_minimum_amount,
      (least) => `at least ${show(least)} for each event`,
    ),
    event_maximum_amount: ifSet(
      price.event_maximum_amount,
      (most) => `at most ${show(most)} for each event`,
    ),
    ...freeText(price, show),
    tiers: ifSet(price.tiers, (tiers) => tiers.map((tier) => tierText(tier, show)).join('; ')),
    charge_flat_at_zero:
      price.charge_flat_at_zero === false ? 'no flat amount at a quantity of 0' : null,
    by_group: price.by_group ? 'each group by itself' : null,
    minimum_amount: ifSet(price.minimum_amount, (least) => `at least ${show(least)} a period`),
    maximum_amount: ifSet(price.maximum_amount, (most) => `at most ${show(most)} a period`),
  };
  return Object.values(texts)
    .filter((text) => text !== null)
    .join('; ');
}

function freeText(
  { model, free_units, free_amount }: Price,
  show: (minor: number) => string,
): Readonly<Record<'free_units' | 'free_amount', string | null>> {
  // Zero is no quota.
  const units = ifSet(
    Number(free_units) === 0 ? null : free_units,
    (free) => `${free} ${model === 'percentage' ? 'events' : 'units'}`,
  );
  const amount = ifSet(free_amount === 0 ? null : free_amount, show);
  if (units !== null && amount !== null) {
    const both = `free until ${units} or ${amount} are used up, whichever is first`;
    return { free_units: both, free_amount: null };
  }
  return {
    free_units: ifSet(units, (text) => `${text} free`),
    free_amount: ifSet(amount, (text) => `${text} free`),
  };
}

function tierText(
  { up_to, unit_amount, flat_amount }: Schemas['PriceTierDto'],
  show: (minor: number) => string,
): string {
  const flat = flat_amount === 0 ? '' : ` + ${show(flat_amount)}`;
  return `${up_to === null ? 'beyond' : `to ${up_to}`}: ${unit_amount} each${flat}`;
}

export interface PriceTableProps {
  readonly prices: readonly Price[];
  readonly currency: string;
}

export function PriceTable({ prices, currency }: PriceTableProps): ReactNode {
  return (
    <SmallTable
      label="Prices"
      rows={prices}
      keyOf={({ id }) => id}
      empty="No prices."
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Model', cell: ({ model }) => showCode(model) },
        { title: 'Billed', cell: ({ timing }) => showCode(timing) },
        { title: 'Meter', cell: ({ meter_id }) => <ObjectLink id={meter_id} /> },
        {
          title: 'Terms (unit amounts in minor units)',
          cell: (price) => <span className={css['wrapped']}>{termsOf(price, currency)}</span>,
        },
      ]}
    />
  );
}
