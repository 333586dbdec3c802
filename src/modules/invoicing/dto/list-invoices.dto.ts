import {
  CurrencyField,
  EnumField,
  EnumListFilter,
  FromField,
  MinAmountField,
  MaxAmountField,
  ReferenceFilter,
  SortField,
  TextField,
  toAmountRange,
  ToField,
  toInstantRange,
  summaryOf,
  WithPaging,
} from '../../../platform/http';
import { RealTimeFilter } from '../../test-clocks';
import { ExpandCustomerField } from '../../customers';
import {
  type Collection,
  COLLECTIONS,
  INVOICE_REASONS,
  INVOICE_STATUSES,
  type InvoiceReason,
  type InvoiceStatus,
} from '../domain/invoice';
import { INVOICE_SORTS, type InvoiceFilter } from '../domain/invoice-filter';

export class InvoiceFilterDto {
  @ReferenceFilter('Only the invoices of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the invoices of this subscription.') readonly subscription_id?: string;
  @ReferenceFilter('Only the invoice that regenerates this void one.') readonly reissue_of?: string;
  @EnumListFilter(INVOICE_STATUSES, 'Only invoices with one of these statuses.')
  readonly status?: readonly InvoiceStatus[];
  @TextField('Only the invoice with this number.', { max: 40, optional: true })
  readonly number?: string;
  @EnumField(INVOICE_REASONS, 'Only invoices that were made for this reason.', { optional: true })
  readonly reason?: InvoiceReason;
  @EnumField(COLLECTIONS, 'Only invoices that are collected in this way.', { optional: true })
  readonly collection?: Collection;
  @CurrencyField('Only invoices in this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @MinAmountField('total') readonly total_min?: number;
  @MaxAmountField('total') readonly total_max?: number;
  @EnumField(['true'], 'Only open invoices that were marked as overdue (`overdue_at`).', {
    optional: true,
  })
  readonly overdue?: 'true';
  @RealTimeFilter('invoices') readonly test_clock_id?: 'none';
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
  @FromField('of finalization') readonly finalized_from?: string;
  @ToField('of finalization') readonly finalized_to?: string;
  @FromField('at which the invoice is due') readonly due_from?: string;
  @ToField('at which the invoice is due') readonly due_to?: string;
}

export class ListInvoicesDto extends WithPaging(InvoiceFilterDto) {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
  @SortField(INVOICE_SORTS) readonly sort?: NonNullable<InvoiceFilter['sort']>;
}

export function toInvoiceFilter(
  query: InvoiceFilterDto & Pick<ListInvoicesDto, 'sort'>,
): InvoiceFilter {
  return {
    customerId: query.customer_id ?? null,
    subscriptionId: query.subscription_id ?? null,
    reissueOfId: query.reissue_of ?? null,
    statuses: query.status ?? null,
    number: query.number ?? null,
    reason: query.reason ?? null,
    collection: query.collection ?? null,
    currency: query.currency ?? null,
    total: toAmountRange('total', query.currency, query.total_min, query.total_max),
    isOverdue: query.overdue === 'true',
    isInRealTime: query.test_clock_id === 'none',
    created: toInstantRange(query.created_from, query.created_to),
    finalized: toInstantRange(query.finalized_from, query.finalized_to),
    due: toInstantRange(query.due_from, query.due_to),
    sort: query.sort ?? null,
  };
}

export const InvoiceSummaryDto = summaryOf('Invoice', {
  total: 'Sum of the totals.',
  amount_due: 'Sum of the amounts due.',
  amount_paid: 'Sum of the amounts paid.',
  amount_remaining:
    'Sum of the amounts due less what was paid and credited, without drafts and void invoices.',
});
