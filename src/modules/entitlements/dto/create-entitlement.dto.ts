import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { IsIdOf, IsText, MetadataField, Nullable } from '../../../platform/http';
import {
  ENTITLEMENT_TYPES,
  type EntitlementTerms,
  type EntitlementType,
} from '../domain/entitlement';

export const LONGEST_NAME = 200;
export const LONGEST_UNIT = 40;

export class CreateEntitlementDto {
  @Matches(/^[a-z][a-z0-9_.-]{0,63}$/, {
    message: 'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
  })
  @ApiProperty({
    description: 'What a program asks for, 1 to 64 of a-z, 0-9, _, . and -; unique.',
    example: 'api_calls',
  })
  readonly key!: string;

  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people.',
    example: 'API calls',
  })
  readonly name!: string;

  @IsIn(ENTITLEMENT_TYPES)
  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: 'On or off, a fixed number, or a limit on what a meter counts.',
    example: 'static',
  })
  readonly type!: EntitlementType;

  @Nullable()
  @IsText(1, LONGEST_UNIT)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_UNIT,
    nullable: true,
    description: 'What its value counts, for people.',
    example: 'calls',
  })
  readonly unit?: string | null;

  @Nullable()
  @IsIdOf('meter')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The meter that counts; only for type `metered`.',
    example: null,
  })
  readonly meter_id?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toEntitlementTerms(dto: CreateEntitlementDto): EntitlementTerms {
  return {
    key: dto.key,
    name: dto.name,
    type: dto.type,
    unit: dto.unit ?? null,
    meterId: dto.meter_id ?? null,
    metadata: dto.metadata ?? {},
  };
}
