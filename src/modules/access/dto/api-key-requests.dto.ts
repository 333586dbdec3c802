import { ArrayMinSize, IsArray, IsIn } from 'class-validator';
import { GRANTED_SCOPES, type GrantedScope } from '../../../core/access';
import { Field, HasNoRepeats, InstantField, IntegerField, TextField } from '../../../platform/http';
import type { ApiKeyChange, ApiKeyTerms } from '../domain/api-key';

const MAX_NAME_LENGTH = 200;
const LONGEST_OVERLAP_SECONDS = 7 * 86_400;
const DEFAULT_OVERLAP_SECONDS = 86_400;

function ScopesField(options?: { readonly optional: true }): PropertyDecorator {
  const message = 'must be scopes; see docs/security.md';
  return Field(
    { enum: [...GRANTED_SCOPES], isArray: true, minItems: 1, uniqueItems: true },
    [IsArray(), ArrayMinSize(1), HasNoRepeats(), IsIn(GRANTED_SCOPES, { each: true, message })],
    'Scopes of the key, which must be scopes of the caller. `*` stands for all scopes, including those of later versions.',
    { ...options, example: ['usage:write', 'entitlements:read'] },
  );
}

function ExpiryField(): PropertyDecorator {
  return InstantField('When the key stops working. Null: never.', {
    nullable: true,
    example: '2040-01-01T00:00:00.000Z',
  });
}

const MAX_REQUESTS_PER_MINUTE = 100_000_000;

function LimitField(description: string, example: number | null): PropertyDecorator {
  const limits = { min: 1, max: MAX_REQUESTS_PER_MINUTE };
  return IntegerField(description, { ...limits, nullable: true, example });
}

function RequestsField(): PropertyDecorator {
  return LimitField(
    'Requests in a minute, at most `RATE_LIMIT_KEY_CEILING` of the service. Null: `RATE_LIMIT_PER_MINUTE`.',
    600,
  );
}

function UsageRequestsField(): PropertyDecorator {
  return LimitField(
    'Requests in a minute that report or consume usage, at most `RATE_LIMIT_USAGE_KEY_CEILING` of the service. Null: `RATE_LIMIT_USAGE_PER_MINUTE`.',
    null,
  );
}

export class CreateApiKeyDto {
  @TextField('For display only.', { max: MAX_NAME_LENGTH, example: 'Checkout servers' })
  readonly name!: string;
  @ScopesField() readonly scopes!: readonly GrantedScope[];
  @ExpiryField() readonly expires_at?: string | null;
  @RequestsField() readonly requests_per_minute?: number | null;
  @UsageRequestsField() readonly usage_requests_per_minute?: number | null;
}

export class UpdateApiKeyDto {
  @TextField('For display only.', {
    max: MAX_NAME_LENGTH,
    optional: true,
    example: 'Checkout servers',
  })
  readonly name?: string;
  @ScopesField({ optional: true }) readonly scopes?: readonly GrantedScope[];
  @ExpiryField() readonly expires_at?: string | null;
  @RequestsField() readonly requests_per_minute?: number | null;
  @UsageRequestsField() readonly usage_requests_per_minute?: number | null;
}

export class RollApiKeyDto {
  @IntegerField('How long the present secret works beside the new one. 0 ends it at once.', {
    min: 0,
    max: LONGEST_OVERLAP_SECONDS,
    optional: true,
    default: DEFAULT_OVERLAP_SECONDS,
    example: 3600,
  })
  readonly overlap_seconds?: number;
}

export function toApiKeyTerms(dto: CreateApiKeyDto): ApiKeyTerms {
  return {
    name: dto.name,
    scopes: dto.scopes,
    expiresAt: toInstant(dto.expires_at) ?? null,
    requestsPerMinute: dto.requests_per_minute ?? null,
    usageRequestsPerMinute: dto.usage_requests_per_minute ?? null,
  };
}

export function toApiKeyChange(dto: UpdateApiKeyDto): ApiKeyChange {
  return {
    name: dto.name,
    scopes: dto.scopes,
    expiresAt: toInstant(dto.expires_at),
    requestsPerMinute: dto.requests_per_minute,
    usageRequestsPerMinute: dto.usage_requests_per_minute,
  };
}

export function toOverlapMs(dto: RollApiKeyDto): number {
  return (dto.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) * 1_000;
}

function toInstant(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
