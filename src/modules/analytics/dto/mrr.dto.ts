import {
  BooleanProperty,
  CurrencyField,
  EnumListFilter,
  EnumProperty,
  FromField,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  NestedListProperty,
  NestedProperty,
  ReferenceFilter,
  TextProperty,
  toDto,
  ToField,
  toInstantRange,
} from '../../../platform/http';
import { ExpandCustomerField } from '../../customers';
import {
  MRR_CHANGE_KINDS,
  type MrrChange,
  type MrrChangeFilter,
  type MrrChangeKind,
} from '../../recurring-revenue';
import type { MrrWindow } from '../mrr-windows';
import type { Report } from '../report-windows';
import { AS_TEXT, ReportDto, ReportWindowDto, toReportDto, toReportWindowDto } from './report.dto';

export class MrrWindowDto extends ReportWindowDto {
  @TextProperty(`Monthly recurring revenue at the end of the window. ${AS_TEXT}`, '1250000')
  readonly mrr!: string;
  @IntegerProperty('Subscriptions with recurring revenue at the end of the window.', 412)
  readonly subscriptions!: number;
}

export class MrrDto extends ReportDto {
  @NestedListProperty(
    MrrWindowDto,
    'All windows of each currency that has had recurring revenue, by currency and time.',
  )
  readonly data!: readonly MrrWindowDto[];
}

export class MrrMovementCountsDto implements Record<MrrChangeKind, number> {
  @IntegerProperty('Changes of kind `new`.', 12) readonly new!: number;
  @IntegerProperty('Changes of kind `expansion`.', 5) readonly expansion!: number;
  @IntegerProperty('Changes of kind `contraction`.', 3) readonly contraction!: number;
  @IntegerProperty('Changes of kind `churn`.', 2) readonly churn!: number;
  @IntegerProperty('Changes of kind `reactivation`.', 1) readonly reactivation!: number;
}

export class MrrMovementsWindowDto extends ReportWindowDto {
  @TextProperty(`Monthly recurring revenue at the start of the window. ${AS_TEXT}`, '1200000')
  readonly opening!: string;
  @TextProperty('Revenue of subscriptions that had none before.', '80000') readonly new!: string;
  @TextProperty('Revenue gained by subscriptions that had some.', '25000')
  readonly expansion!: string;
  @TextProperty('Revenue lost by subscriptions that still have some; zero or negative.', '-15000')
  readonly contraction!: string;
  @TextProperty('Revenue lost by subscriptions that have none left; zero or negative.', '-50000')
  readonly churn!: string;
  @TextProperty('Revenue of subscriptions that had lost all before.', '10000')
  readonly reactivation!: string;
  @TextProperty('At the end of the window: `opening` plus the five movements.', '1250000')
  readonly closing!: string;
  @NestedProperty(MrrMovementCountsDto, 'Number of changes of each kind.')
  readonly counts!: MrrMovementCountsDto;
}

export class MrrMovementsDto extends ReportDto {
  @NestedListProperty(
    MrrMovementsWindowDto,
    'All windows of each currency that has had recurring revenue, by currency and time.',
  )
  readonly data!: readonly MrrMovementsWindowDto[];
}

export class ListMrrChangesDto extends ListQueryDto {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
  @ReferenceFilter('Only changes of this customer.') readonly customer_id?: string;
  @CurrencyField('Only this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @EnumListFilter(MRR_CHANGE_KINDS, 'Only changes of these kinds.')
  readonly kind?: readonly MrrChangeKind[];
  @FromField('of the changes') readonly from?: string;
  @ToField('of the changes') readonly to?: string;
}

export class MrrChangeDto {
  @IdProperty('mrrc_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @EnumProperty(MRR_CHANGE_KINDS, 'Kind of the change.', 'expansion')
  readonly kind!: MrrChangeKind;
  @TextProperty('Id of the subscription.', 'sub_01h455vb4pex5vsknk084sn02q')
  readonly subscription_id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @IntegerProperty('MRR before the change, in minor units.', 2900)
  readonly before!: number;
  @IntegerProperty('MRR after the change, in minor units.', 4900)
  readonly after!: number;
  @InstantProperty('When it changed.') readonly changed_at!: string;
  @BooleanProperty(
    'True if derived later, for a subscription that is older than the MRR records.',
    false,
  )
  readonly is_backfilled!: boolean;
}

export function toMrrDto({ period, rows }: Report<MrrWindow>): MrrDto {
  return {
    ...toReportDto(period),
    data: rows.map((row) => ({
      ...toReportWindowDto(row),
      mrr: row.closingMinor.toString(),
      subscriptions: row.subscriptions,
    })),
  };
}

export function toMrrMovementsDto({ period, rows }: Report<MrrWindow>): MrrMovementsDto {
  return {
    ...toReportDto(period),
    data: rows.map((row) => ({
      ...toReportWindowDto(row),
      opening: row.openingMinor.toString(),
      new: row.amounts.new.toString(),
      expansion: row.amounts.expansion.toString(),
      contraction: row.amounts.contraction.toString(),
      churn: row.amounts.churn.toString(),
      reactivation: row.amounts.reactivation.toString(),
      closing: row.closingMinor.toString(),
      counts: row.counts,
    })),
  };
}

export function toMrrChangeFilter(query: ListMrrChangesDto): MrrChangeFilter {
  return {
    customerId: query.customer_id ?? null,
    currency: query.currency ?? null,
    kinds: query.kind ?? null,
    changed: toInstantRange(query.from, query.to),
  };
}

/**
 * Rounds amounts beyond +-(2^53-1) to about 16 digits. Earlier releases stored such amounts, and the list must still
 * show them. New ones are refused with the error `subscription_too_large`.
 */
export function toMrrChangeDto(change: MrrChange): MrrChangeDto {
  return toDto(MrrChangeDto, {
    ...change,
    before: Number(change.beforeMinor),
    after: Number(change.afterMinor),
  });
}
