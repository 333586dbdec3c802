import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMinSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import type { GrantedScope } from '../../../core/access';
import { HasNoRepeats, IsInstant, IsText, Nullable, Omittable } from '../../../platform/http';
import type { ApiKeyChange, ApiKeyTerms } from '../domain/api-key';
import { GRANTED_SCOPES } from './api-key.dto';

const SCOPES_FIELD = {
  enum: GRANTED_SCOPES,
  isArray: true,
  minItems: 1,
  uniqueItems: true,
  description:
    'What the key may be used for, at most what the caller may do. `*` stands for all scopes, those of later versions included.',
  example: ['usage:write', 'entitlements:read'],
};

const NAME_FIELD = {
  minLength: 1,
  maxLength: 200,
  description: 'For display only.',
  example: 'Checkout servers',
};

function AreScopes(): PropertyDecorator {
  return applyDecorators(
    IsArray(),
    ArrayMinSize(1),
    HasNoRepeats(),
    IsIn(GRANTED_SCOPES, { each: true, message: 'must be scopes; see docs/security.md' }),
  );
}

function ExpiryField(): PropertyDecorator {
  return applyDecorators(
    Nullable(),
    IsInstant(),
    ApiPropertyOptional({
      type: String,
      format: 'date-time',
      nullable: true,
      description: 'When the key stops working. Null: never.',
      example: '2040-01-01T00:00:00.000Z',
    }),
  );
}

export class CreateApiKeyDto {
  @IsText(1, 200)
  @ApiProperty(NAME_FIELD)
  readonly name!: string;

  @AreScopes()
  @ApiProperty(SCOPES_FIELD)
  readonly scopes!: readonly GrantedScope[];

  @ExpiryField()
  readonly expires_at?: string | null;
}

export class UpdateApiKeyDto {
  @Omittable()
  @IsText(1, 200)
  @ApiPropertyOptional(NAME_FIELD)
  readonly name?: string;

  @Omittable()
  @AreScopes()
  @ApiPropertyOptional(SCOPES_FIELD)
  readonly scopes?: readonly GrantedScope[];

  @ExpiryField()
  readonly expires_at?: string | null;
}

const LONGEST_OVERLAP_SECONDS = 7 * 86_400;
const DEFAULT_OVERLAP_SECONDS = 86_400;

export class RollApiKeyDto {
  @Omittable()
  @IsInt()
  @Min(0)
  @Max(LONGEST_OVERLAP_SECONDS)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: LONGEST_OVERLAP_SECONDS,
    default: DEFAULT_OVERLAP_SECONDS,
    description: 'How long the present secret works beside the new one. 0 ends it at once.',
    example: 3600,
  })
  readonly overlap_seconds?: number;
}

export function toApiKeyTerms(dto: CreateApiKeyDto): ApiKeyTerms {
  return { name: dto.name, scopes: dto.scopes, expiresAt: toInstant(dto.expires_at) ?? null };
}

export function toApiKeyChange(dto: UpdateApiKeyDto): ApiKeyChange {
  return { name: dto.name, scopes: dto.scopes, expiresAt: toInstant(dto.expires_at) };
}

/** Returns the overlap in milliseconds. */
export function toOverlapMs(dto: RollApiKeyDto): number {
  return (dto.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) * 1_000;
}

function toInstant(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
