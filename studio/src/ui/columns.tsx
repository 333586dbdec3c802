import { money } from '../format/money';
import { CustomerLink, type CustomerLinkProps, NamedCustomer } from './links';
import type { Column } from './table';

export const CUSTOMER_COLUMN: Column<{
  readonly customer_id: string;
  readonly customer?: CustomerLinkProps['customer'];
}> = {
  title: 'Customer',
  cell: ({ customer_id, customer }) => <CustomerLink id={customer_id} customer={customer} />,
};

/** The customer in a row of a report. */
export const CUSTOMER_NAME_COLUMN: Column<{
  readonly customer_id: string | null;
  readonly customer_name: string | null;
  readonly is_deleted: boolean | null;
}> = {
  title: 'Customer',
  full: ({ customer_name }) => customer_name ?? '',
  cell: ({ customer_id, customer_name, is_deleted }) => (
    <NamedCustomer id={customer_id} name={customer_name} isDeleted={is_deleted} />
  ),
};

/** A column of amounts in the currency of the row. */
export function amountColumn<Field extends string>(
  title: string,
  field: Field,
): Column<Readonly<Record<Field, number | string>> & { readonly currency: string }> {
  return { title, isNumber: true, cell: (row) => money(row[field], row.currency) };
}
