import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsObject, Max, Min, ValidateNested } from 'class-validator';
import { parseDecimal } from '../../../core/decimal';
import { IsDecimal, IsInstant, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { GrantTerms } from '../domain/grant';

const DEFAULT_PRIORITY = 100;
const MAX_PRIORITY = 1_000;

class RolloverInputDto {
  @Omittable()
  @IsDecimal()
  @ApiPropertyOptional({
    default: '0',
    description: 'Minimum balance after a reset, even if less was left.',
    example: '0',
  })
  readonly min?: string;

  @IsDecimal()
  @ApiProperty({ description: 'Maximum balance after a reset.', example: '500' })
  readonly max!: string;
}

export class CreateGrantDto {
  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Decimal string greater than 0; omitted only for a boolean entitlement.',
    example: '500',
  })
  readonly value?: string | null;

  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_PRIORITY,
    default: DEFAULT_PRIORITY,
    description:
      'Grants with a lower priority number are used up first; among equal ones, the grant that expires first.',
  })
  readonly priority?: number;

  @Nullable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'Instant at which the grant expires, exclusive. Omitted: it does not expire. Without a `rollover`, a grant of a ' +
      'metered entitlement lapses at the end of the current period.',
    example: '2027-01-01T00:00:00.000Z',
  })
  readonly expires_at?: string | null;

  @Nullable()
  @IsObject()
  @ValidateNested()
  @Type(() => RolloverInputDto)
  @ApiPropertyOptional({
    type: RolloverInputDto,
    nullable: true,
    description:
      'Balance kept when a period ends: MIN(max, MAX(min, rest)). Omitted: nothing is kept; the grant covers the current period only.',
  })
  readonly rollover?: RolloverInputDto | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
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
