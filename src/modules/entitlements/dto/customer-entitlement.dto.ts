import { ApiProperty } from '@nestjs/swagger';
import { InstantProperty, toWireInstant } from '../../../platform/http';
import type { CustomerEntitlement, SourceView } from '../domain/customer-entitlement';
import { ENTITLEMENT_TYPES, type EntitlementType } from '../domain/entitlement';

const SOURCE_TYPES = ['plan', 'addon', 'grant'] as const;

export class EntitlementSourceDto {
  @ApiProperty({ enum: SOURCE_TYPES, description: 'Kind of source.', example: 'plan' })
  readonly type!: SourceView['type'];

  @ApiProperty({
    description: 'Id of the plan, the add-on or the grant.',
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the subscription; null for a grant.',
    example: 'sub_01h455vb4pex5vsknk084sn02q',
  })
  readonly subscription_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Value times quantity; for a grant, its balance at the start of the period. Null: no limit, or a boolean entitlement.',
    example: '1000',
  })
  readonly value!: string | null;

  @ApiProperty({
    description: 'False if an add-on with mode `set` replaces this source.',
    example: true,
  })
  readonly is_counted!: boolean;
}

export class CustomerEntitlementDto {
  @ApiProperty({ description: 'Key of the entitlement.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    example: 'metered',
  })
  readonly type!: EntitlementType;

  @ApiProperty({
    description:
      'True if the customer may use the entitlement now; for a metered one, if it may use more.',
    example: true,
  })
  readonly has_access!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Decimal string; null: no limit, or a boolean entitlement. For a metered one, the limit of the current period, including usage of it covered by ended grants or a larger former plan.',
    example: '1000',
  })
  readonly limit!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Usage in the current period, as a decimal string; null unless the entitlement is metered.',
    example: '250',
  })
  readonly used!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Remaining quantity of the limit, at least 0; null if there is no limit or the entitlement is not metered.',
    example: '750',
  })
  readonly remaining!: string | null;

  @ApiProperty({ description: 'True if usage may exceed the limit.', example: false })
  readonly overage_allowed!: boolean;

  @InstantProperty('When usage resets to zero; null: never.', {
    nullable: true,
  })
  readonly resets_at!: string | null;

  @ApiProperty({
    type: [EntitlementSourceDto],
    description: 'Plans, add-ons and grants that give the entitlement.',
  })
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
