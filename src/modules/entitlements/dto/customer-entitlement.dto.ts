import { ApiProperty } from '@nestjs/swagger';
import { InstantProperty, toWireInstant } from '../../../platform/http';
import type { CustomerEntitlement, SourceView } from '../domain/customer-entitlement';
import { ENTITLEMENT_TYPES, type EntitlementType } from '../domain/entitlement';

const SOURCE_TYPES = ['plan', 'addon', 'grant'] as const;

export class EntitlementSourceDto {
  @ApiProperty({ enum: SOURCE_TYPES, description: 'What gives it.', example: 'plan' })
  readonly type!: SourceView['type'];

  @ApiProperty({
    description: 'The plan, the add-on or the grant.',
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The subscription to it; null for a grant.',
    example: 'sub_01h455vb4pex5vsknk084sn02q',
  })
  readonly subscription_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'What it gives, times its quantity; of a grant, what was left of it when the period began. Null: without a limit, or nothing to count.',
    example: '1000',
  })
  readonly value!: string | null;

  @ApiProperty({
    description: 'False where an add-on that sets the value takes its place.',
    example: true,
  })
  readonly is_counted!: boolean;
}

export class CustomerEntitlementDto {
  @ApiProperty({ description: 'What a program asks for.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: 'On or off, a fixed number, or a limit on what is used.',
    example: 'metered',
  })
  readonly type!: EntitlementType;

  @ApiProperty({
    description: 'Whether the customer may use it right now; a metered one: some more of it.',
    example: true,
  })
  readonly has_access!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Decimal string; null: without a limit, or a boolean entitlement. Of a metered one, for the current period, with what was covered in it by what counts no more.',
    example: '1000',
  })
  readonly limit!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Used in the current period, as a decimal string; null unless it is metered.',
    example: '250',
  })
  readonly used!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What is left of the limit, never below 0; null where there is none to use up.',
    example: '750',
  })
  readonly remaining!: string | null;

  @ApiProperty({ description: 'Whether more than the limit may be used.', example: false })
  readonly overage_allowed!: boolean;

  @InstantProperty('When the next period begins with nothing used; null: never.', {
    nullable: true,
  })
  readonly resets_at!: string | null;

  @ApiProperty({ type: [EntitlementSourceDto], description: 'Where it comes from.' })
  readonly sources!: readonly EntitlementSourceDto[];
}

export function toCustomerEntitlementDto(state: CustomerEntitlement): CustomerEntitlementDto {
  return {
    key: state.key,
    type: state.type,
    has_access: state.hasAccess,
    limit: state.limit,
    used: state.used,
    remaining: state.remaining,
    overage_allowed: state.isOverageAllowed,
    resets_at: toWireInstant(state.resetsAt),
    sources: state.sources.map((source) => ({
      type: source.type,
      id: source.id,
      subscription_id: source.subscriptionId,
      value: source.value,
      is_counted: source.isCounted,
    })),
  };
}
