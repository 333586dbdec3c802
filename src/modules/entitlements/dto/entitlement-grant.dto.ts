import { formatExact } from '../../../core/decimal';
import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  NestedProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { GRANT_ENDS, type GrantEnd } from '../domain/grant';
import type { GrantView } from '../domain/grant-terms';

const STATUSES = ['active', ...GRANT_ENDS] as const;

class RolloverDto {
  @TextProperty('Minimum balance after a reset.', '0') readonly min!: string;
  @TextProperty('Maximum balance after a reset.', '500') readonly max!: string;
}

export class EntitlementGrantDto {
  @IdProperty('grant_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('Id of the entitlement.', 'ent_01h455vb4pex5vsknk084sn02q')
  readonly entitlement_id!: string;
  @TextProperty('The key of the entitlement.', 'api_calls') readonly key!: string;
  @EnumProperty(
    STATUSES,
    '`lapsed`: no balance was left after a reset; `voided`: by request.',
    'active',
  )
  readonly status!: 'active' | GrantEnd;
  @TextProperty('Decimal string; null for a boolean entitlement.', '500', { nullable: true })
  readonly value!: string | null;
  @TextProperty(
    'Remaining balance; null if the entitlement is not metered or the grant has ended.',
    '500',
    { nullable: true },
  )
  readonly remaining!: string | null;
  @IntegerProperty(
    'Grants with a lower priority number are used up first. If two have the same number, the one that expires first is used up first.',
    100,
  )
  readonly priority!: number;
  @InstantProperty('Null: the grant does not expire.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly expires_at!: string | null;
  @NestedProperty(
    RolloverDto,
    'Balance kept when a period ends: MIN(max, MAX(min, rest)); null: nothing is kept.',
    { nullable: true },
  )
  readonly rollover!: RolloverDto | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When the grant ended; null while it is active.', {
    nullable: true,
    example: null,
  })
  readonly ended_at!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toEntitlementGrantDto({ grant, key, remaining }: GrantView): EntitlementGrantDto {
  const { value, rollover } = grant;
  return toDto(EntitlementGrantDto, {
    ...grant,
    key,
    status: grant.end ?? 'active',
    value: value === null ? null : formatExact(value),
    remaining: remaining === null ? null : formatExact(remaining),
    rollover:
      rollover === null ? null : { min: formatExact(rollover.min), max: formatExact(rollover.max) },
  });
}
