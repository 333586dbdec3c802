import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsObject, Max, Min, ValidateNested } from 'class-validator';
import { parseDecimal } from '../../../core/decimal';
import { IsDecimal, IsInstant, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { GrantTerms } from '../domain/grant';

const USUAL_PRIORITY = 100;
const LAST_PRIORITY = 1_000;

class RolloverInputDto {
  @Omittable()
  @IsDecimal()
  @ApiPropertyOptional({
    default: '0',
    description: 'At least so much is left after a reset, even if less or nothing was.',
    example: '0',
  })
  readonly min?: string;

  @IsDecimal()
  @ApiProperty({ description: 'At most so much is left after a reset.', example: '500' })
  readonly max!: string;
}

export class CreateGrantDto {
  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Decimal string greater than 0; left out for a boolean entitlement alone.',
    example: '500',
  })
  readonly value?: string | null;

  @Omittable()
  @IsInt()
  @Min(0)
  @Max(LAST_PRIORITY)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: LAST_PRIORITY,
    default: USUAL_PRIORITY,
    description: 'The lower one is used up first; of equal ones, what expires first.',
  })
  readonly priority?: number;

  @Nullable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'From when on it counts no more. Left out: it does not expire. What is left of a metered one goes with the current ' +
      'period before that, unless it has a `rollover`.',
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
      'What is left of it when a period ends: MIN(max, MAX(min, rest)). Left out: nothing, it is for the current period alone.',
  })
  readonly rollover?: RolloverInputDto | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toGrantTerms(dto: CreateGrantDto): GrantTerms {
  const { value, expires_at: expiresAt, rollover } = dto;
  return {
    value: value === undefined || value === null ? null : parseDecimal(value),
    priority: dto.priority ?? USUAL_PRIORITY,
    expiresAt: expiresAt === undefined || expiresAt === null ? null : new Date(expiresAt),
    rollover:
      rollover === undefined || rollover === null
        ? null
        : { min: parseDecimal(rollover.min ?? '0'), max: parseDecimal(rollover.max) },
    metadata: dto.metadata ?? {},
  };
}
