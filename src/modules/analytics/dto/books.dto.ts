import { PickType } from '@nestjs/swagger';
import {
  BooleanProperty,
  EnumField,
  IntegerProperty,
  LimitField,
  NestedListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { CollectionRow } from '../domain/collection';
import { REVENUE_GROUPS, type RevenueGroup, type RevenueRow } from '../domain/revenue';
import type { Report } from '../report-windows';
import { AS_TEXT, ReportDto, ReportQueryDto, ReportWindowDto, toReportDto } from './report.dto';

export const MAX_GROUPS = 100;

export class RevenueQueryDto extends ReportQueryDto {
  @EnumField(REVENUE_GROUPS, 'Omit it for the sums of each currency.', { optional: true })
  readonly group_by?: RevenueGroup;
  @LimitField('Maximum number of groups per currency: those that earned most in the period.', {
    max: MAX_GROUPS,
    default: MAX_GROUPS,
  })
  readonly limit?: number;
}

export class RevenueRowDto extends ReportWindowDto {
  @TextProperty('With `group_by=plan`: current plan of the subscription, if any.', null, {
    nullable: true,
  })
  readonly plan_id!: string | null;
  @TextProperty('With `group_by=customer`: the customer.', null, { nullable: true })
  readonly customer_id!: string | null;
  @TextProperty(
    'Name of the customer; null for callers without the scope `customers:read`.',
    null,
    { nullable: true },
  )
  readonly customer_name!: string | null;
  @BooleanProperty(
    'True if the customer is deleted and can no longer be read; null without a customer.',
    null,
    {
      nullable: true,
    },
  )
  readonly is_deleted!: boolean | null;
  @TextProperty('With `group_by=account`: the ledger account.', null, { nullable: true })
  readonly account!: string | null;
  @TextProperty(`Revenue before discounts: credits less debits of \`revenue\`. ${AS_TEXT}`, '59500')
  readonly gross!: string;
  @TextProperty('Debits less credits of `discounts`.', '5950') readonly discounts!: string;
  @TextProperty('Earned revenue: `gross` less `discounts`.', '53550') readonly earned!: string;
  @TextProperty(
    'Credits less debits of `deferred_revenue`: negative if more was earned than deferred.',
    '0',
  )
  readonly deferred!: string;
  @TextProperty('Debits less credits of `refunds`: refunds not covered by credit notes.', '0')
  readonly refunds!: string;
  @TextProperty('Debits less credits of `bad_debt`.', '0') readonly written_off!: string;
  @TextProperty('Credits less debits of `tax_payable`.', '10710') readonly tax!: string;
}

export class RevenueDto extends ReportDto {
  @NestedListProperty(
    RevenueRowDto,
    'By currency and window, the largest groups first. Windows without postings are left out.',
  )
  readonly data!: readonly RevenueRowDto[];
}

export class CollectionQueryDto extends PickType(ReportQueryDto, ['from', 'to', 'currency']) {}

export class CollectionRowDto {
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @IntegerProperty('Attempt for its invoice, from 1.', 1) readonly attempt!: number;
  @TextProperty('Current status.', 'succeeded')
  readonly status!: string;
  @TextProperty('Why they failed; null for others.', null, { nullable: true })
  readonly failure_code!: string | null;
  @IntegerProperty('Number of payments.', 120) readonly payments!: number;
  @TextProperty(`Sum of their amounts. ${AS_TEXT}`, '59500') readonly amount!: string;
}

export class CollectionDto extends ReportDto {
  @NestedListProperty(CollectionRowDto, 'By currency, attempt, status and failure code.')
  readonly data!: readonly CollectionRowDto[];
}

/** @param showsNames true for callers that may read customers */
export function toRevenueDto(
  { period, rows }: Report<RevenueRow>,
  group: RevenueGroup | null,
  showsNames: boolean,
): RevenueDto {
  return {
    ...toReportDto(period),
    data: rows.map((row) =>
      toDto(RevenueRowDto, {
        ...row,
        windowStart: row.period.startAt,
        windowEnd: row.period.endAt,
        planId: group === 'plan' ? row.key : null,
        customerId: group === 'customer' ? row.key : null,
        customerName: group === 'customer' && showsNames ? row.name : null,
        isDeleted: group === 'customer' ? row.isDeleted : null,
        account: group === 'account' ? row.key : null,
      }),
    ),
  };
}

export function toCollectionDto({ period, rows }: Report<CollectionRow>): CollectionDto {
  return { ...toReportDto(period), data: rows.map((row) => toDto(CollectionRowDto, row)) };
}
