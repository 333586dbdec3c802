import {
  BooleanProperty,
  EnumProperty,
  InstantProperty,
  NestedListProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import type { CustomerEntitlement, SourceView } from '../domain/customer-entitlement';
import { ENTITLEMENT_TYPES, type EntitlementType } from '../domain/entitlement';

const SOURCE_TYPES = ['plan', 'addon', 'grant'] as const;

export class EntitlementSourceDto {
  @EnumProperty(SOURCE_TYPES, 'Kind of source.', 'plan') readonly type!: SourceView['type'];
  @TextProperty('Id of the plan, the add-on or the grant.', 'plan_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Id of the subscription; null for a grant.', 'sub_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly subscription_id!: string | null;
  @TextProperty(
    'Value of the plan; value of the add-on times its quantity; for a grant, its balance at the start of the period. Null: no limit, or a boolean entitlement.',
    '1000',
    { nullable: true },
  )
  readonly value!: string | null;
  @BooleanProperty('False if an add-on with mode `set` replaces this source.', true)
  readonly is_counted!: boolean;
}

export class CustomerEntitlementDto {
  @TextProperty('Key of the entitlement.', 'api_calls') readonly key!: string;
  @EnumProperty(
    ENTITLEMENT_TYPES,
    '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    'metered',
  )
  readonly type!: EntitlementType;
  @BooleanProperty(
    'True if the customer may use the entitlement now; if metered, may use more of it.',
    true,
  )
  readonly has_access!: boolean;
  @TextProperty(
    'Limit as a decimal string; null: no limit, or a boolean entitlement. If metered: the limit of the current period, which includes usage that ended grants or a larger former plan covered.',
    '1000',
    { nullable: true },
  )
  readonly limit!: string | null;
  @TextProperty(
    'Usage in the current period, as a decimal string; null unless the entitlement is metered.',
    '250',
    { nullable: true },
  )
  readonly used!: string | null;
  @TextProperty(
    'Remaining quantity of the limit, at least 0; null if there is no limit or the entitlement is not metered.',
    '750',
    { nullable: true },
  )
  readonly remaining!: string | null;
  @BooleanProperty('True if usage may exceed the limit.', false) readonly overage_allowed!: boolean;
  @InstantProperty('When usage resets to zero; null: never.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly resets_at!: string | null;
  @NestedListProperty(EntitlementSourceDto, 'Plans, add-ons and grants that give the entitlement.')
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
