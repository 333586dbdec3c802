import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import type { VersionCondition } from '../../platform/database';
import { scopeNotHeld } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
  withETagForChanges,
} from '../../platform/http';
import { SecretAnswer } from '../../platform/idempotency';
import {
  apiKeyNotFound,
  apiKeyRevoked,
  apiKeyRolling,
  expiryNotInFuture,
  limitAboveCeiling,
} from './access.errors';
import { ApiKeysService } from './api-keys.service';
import {
  ApiKeyDto,
  ApiKeyWithSecretDto,
  toApiKeyDto,
  toApiKeyWithSecretDto,
} from './dto/api-key.dto';
import {
  CreateApiKeyDto,
  RollApiKeyDto,
  toApiKeyChange,
  toApiKeyTerms,
  toOverlapMs,
  UpdateApiKeyDto,
} from './dto/api-key-requests.dto';

const keyId = new IdPipe('key', apiKeyNotFound);

@ApiTags('API keys')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @SecretAnswer()
  @Operation({
    summary: 'Create an API key',
    description:
      'Only this answer contains the secret. The key can have only scopes that the caller holds.',
    access: 'keys:write',
    status: 201,
    answer: ApiKeyWithSecretDto,
    key: 'optional',
    problems: [scopeNotHeld, expiryNotInFuture, limitAboveCeiling],
  })
  async createApiKey(
    @Body() body: CreateApiKeyDto,
    @Caller() caller: Principal,
  ): Promise<ApiKeyWithSecretDto> {
    const { key, secret } = await this.keys.create(toApiKeyTerms(body), caller);
    return withETag(key, () => toApiKeyWithSecretDto(key, secret));
  }

  @Get()
  @Operation({
    summary: 'List API keys',
    description: 'Newest first, expired and revoked keys included, never with a secret.',
    access: 'keys:read',
    answer: pageOf(ApiKeyDto),
  })
  async listApiKeys(@Query() query: ListQueryDto): Promise<PageDto<ApiKeyDto>> {
    return toPageDto(await this.keys.list(toPageRequest(query, 'key')), toApiKeyDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an API key',
    description: 'Returns the key without its secret.',
    access: 'keys:read',
    answer: ApiKeyDto,
    problems: [apiKeyNotFound],
  })
  async getApiKey(@Param('id', keyId) id: string): Promise<ApiKeyDto> {
    return withETagForChanges(await this.keys.get(id), toApiKeyDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update an API key',
    description:
      'Changes the name, the scopes, the expiry or the rate limits, in every process within a second. An empty body changes nothing. Neither the ' +
      'former nor the new scopes may exceed those of the caller.',
    access: 'keys:write',
    answer: ApiKeyDto,
    problems: [apiKeyNotFound, apiKeyRevoked, scopeNotHeld, expiryNotInFuture, limitAboveCeiling],
  })
  async updateApiKey(
    @Param('id', keyId) id: string,
    @Body() body: UpdateApiKeyDto,
    @IfMatch() expected: VersionCondition,
    @Caller() caller: Principal,
  ): Promise<ApiKeyDto> {
    return withETag(
      await this.keys.update(id, toApiKeyChange(body), { expected, caller }),
      toApiKeyDto,
    );
  }

  @Post(':id/roll')
  @SecretAnswer()
  @Operation({
    summary: 'Roll an API key',
    description:
      'Gives the key a new secret, which only this answer contains. The present secret works until the overlap ends. Id, ' +
      'scopes and idempotency keys stay.',
    access: 'keys:write',
    answer: ApiKeyWithSecretDto,
    key: 'optional',
    problems: [apiKeyNotFound, apiKeyRevoked, apiKeyRolling, scopeNotHeld],
  })
  async rollApiKey(
    @Param('id', keyId) id: string,
    @Body() body: RollApiKeyDto,
    @IfMatch() expected: VersionCondition,
    @Caller() caller: Principal,
  ): Promise<ApiKeyWithSecretDto> {
    const { key, secret } = await this.keys.roll(id, toOverlapMs(body), { expected, caller });
    return withETag(key, () => toApiKeyWithSecretDto(key, secret));
  }

  @Delete(':id')
  @Operation({
    summary: 'Revoke an API key',
    description:
      'Ends the key for good, in every process within a second. It stays readable with `revoked_at`. Needs no scope of the ' +
      'revoked key.',
    access: 'keys:write',
    problems: [apiKeyNotFound],
  })
  async revokeApiKey(
    @Param('id', keyId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.keys.revoke(id, expected);
  }
}
