import type { ReactNode } from 'react';
import type { Price } from '../api/objects';
import { money } from '../format/money';
import { showCode } from '../format/text';
import { ObjectLink } from '../ui/links';
import { SmallTable } from '../ui/table';

/** Returns the terms of a price in words. Unit amounts are in minor units, because they may have fractions. */
function termsOf(price: Price, currency: string): string {
  const { amount, unit_amount, tiers, package_size, rate, minimum_amount, maximum_amount } = price;
  const tierTexts = (tiers ?? []).map((tier) => {
    const { up_to, unit_amount: unit, flat_amount: flat } = tier;
    const flatText = flat === 0 ? '' : ` + ${money(flat, currency)}`;
    return `${up_to === null ? 'beyond' : `to ${up_to}`}: ${unit} each${flatText}`;
  });
  const parts = [
    ...(amount === null ? [] : [money(amount, currency)]),
    ...(unit_amount === null ? [] : [`${unit_amount} each`]),
    ...(package_size === null ? [] : [`for each ${package_size}`]),
    ...(rate === null ? [] : [`${rate} of the amount`]),
    ...tierTexts,
    ...(minimum_amount === null ? [] : [`at least ${money(minimum_amount, currency)}`]),
    ...(maximum_amount === null ? [] : [`at most ${money(maximum_amount, currency)}`]),
  ];
  return parts.join('; ');
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
          cell: (price) => termsOf(price, currency),
        },
      ]}
    />
  );
}
