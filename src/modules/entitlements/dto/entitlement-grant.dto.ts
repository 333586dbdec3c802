import { ApiProperty } from '@nestjs/swagger';
import { formatExact } from '../../../core/decimal';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import { GRANT_ENDS, type GrantEnd } from '../domain/grant';
import type { GrantView } from '../domain/grant-terms';

const STATUSES = ['active', ...GRANT_ENDS] as const;

class RolloverDto {
  @ApiProperty({ description: 'At least so much is left after a reset.', example: '0' })
  readonly min!: string;

  @ApiProperty({ description: 'At most so much is left after a reset.', example: '500' })
  readonly max!: string;
}

export class EntitlementGrantDto {
  @IdProperty('grant_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Who has it.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({ description: 'What it gives.', example: 'ent_01h455vb4pex5vsknk084sn02q' })
  readonly entitlement_id!: string;

  @ApiProperty({ description: 'The key of the entitlement.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({
    enum: STATUSES,
    description:
      '`expired` at its `expires_at`, `lapsed` when nothing was left of it after a reset, `voided` when it was taken back.',
    example: 'active',
  })
  readonly status!: 'active' | GrantEnd;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Decimal string; null for a boolean entitlement.',
    example: '500',
  })
  readonly value!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What is left of it; null where nothing is counted, or once it has ended.',
    example: '500',
  })
  readonly remaining!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'The lower one is used up first; of equal ones, what expires first.',
    example: 100,
  })
  readonly priority!: number;

  @InstantProperty('From when on it counts no more; null: it does not expire.', { nullable: true })
  readonly expires_at!: string | null;

  @ApiProperty({
    type: RolloverDto,
    nullable: true,
    description: 'What is left of it when a period ends: MIN(max, MAX(min, rest)); null: nothing.',
  })
  readonly rollover!: RolloverDto | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it ended; null: it has not.', { nullable: true })
  readonly ended_at!: string | null;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toEntitlementGrantDto({ grant, key, remaining }: GrantView): EntitlementGrantDto {
  const { value, rollover } = grant;
  return {
    id: grant.id,
    customer_id: grant.customerId,
    entitlement_id: grant.entitlementId,
    key,
    status: grant.end ?? 'active',
    value: value === null ? null : formatExact(value),
    remaining: remaining === null ? null : formatExact(remaining),
    priority: grant.priority,
    expires_at: toWireInstant(grant.expiresAt),
    rollover:
      rollover === null ? null : { min: formatExact(rollover.min), max: formatExact(rollover.max) },
    metadata: grant.metadata,
    ended_at: toWireInstant(grant.endedAt),
    created_at: toWireInstant(grant.createdAt),
    updated_at: toWireInstant(grant.updatedAt),
  };
}
