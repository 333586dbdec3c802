import { parseDecimal } from '../../../core/decimal';
import {
  DecimalField,
  InstantField,
  IntegerField,
  MetadataField,
  NestedField,
} from '../../../platform/http';
import type { GrantTerms } from '../domain/grant';

const DEFAULT_PRIORITY = 100;
const MAX_PRIORITY = 1_000;

class RolloverInputDto {
  @DecimalField('Minimum balance after a reset, even if less was left.', {
    optional: true,
    default: '0',
    example: '0',
  })
  readonly min?: string;
  @DecimalField('Maximum balance after a reset.', { example: '500' }) readonly max!: string;
}

export class CreateGrantDto {
  @DecimalField('Decimal string greater than 0; omitted only for a boolean entitlement.', {
    nullable: true,
    example: '500',
  })
  readonly value?: string | null;
  @IntegerField(
    'Grants with a lower priority number are used up first. If two have the same number, the one that expires first is used up first.',
    { min: 0, max: MAX_PRIORITY, optional: true, default: DEFAULT_PRIORITY },
  )
  readonly priority?: number;
  @InstantField(
    'Instant at which the grant expires, exclusive. Omitted: it does not expire. Without a `rollover`, a grant of a ' +
      'metered entitlement lapses at the end of the current period.',
    { nullable: true, example: '2027-01-01T00:00:00.000Z' },
  )
  readonly expires_at?: string | null;
  @NestedField(
    RolloverInputDto,
    'Balance kept when a period ends: MIN(max, MAX(min, rest)). Omitted: nothing is kept; the grant covers the current period only.',
    { nullable: true },
  )
  readonly rollover?: RolloverInputDto | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toGrantTerms(dto: CreateGrantDto): GrantTerms {
  const { value, expires_at: expiresAt, rollover } = dto;
  return {
    value: value === undefined || value === null ? null : parseDecimal(value),
    priority: dto.priority ?? DEFAULT_PRIORITY,
    expiresAt: expiresAt === undefined || expiresAt === null ? null : new Date(expiresAt),
    rollover:
      rollover === undefined || rollover === null
        ? null
        : { min: parseDecimal(rollover.min ?? '0'), max: parseDecimal(rollover.max) },
    metadata: dto.metadata ?? {},
  };
}
