import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge } from '../../platform/errors';
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
} from '../../platform/http';
import { IdempotentInPhases, SecretAnswer } from '../../platform/idempotency';
import { CreateWebhookEndpointDto, toEndpointTerms } from './dto/create-webhook-endpoint.dto';
import { toEndpointChange, UpdateWebhookEndpointDto } from './dto/update-webhook-endpoint.dto';
import {
  CreatedWebhookEndpointDto,
  toCreatedWebhookEndpointDto,
  toUpdatedWebhookEndpointDto,
  toWebhookEndpointDto,
  UpdatedWebhookEndpointDto,
  WebhookEndpointDto,
} from './dto/webhook-endpoint.dto';
import {
  RotatedWebhookSecretDto,
  toRotatedWebhookSecretDto,
  WebhookSecretDto,
} from './dto/webhook-secret.dto';
import { WebhookEndpointsService } from './webhook-endpoints.service';
import {
  tooManyWebhookEndpoints,
  tooManyWebhookSecrets,
  webhookEndpointNotFound,
  webhookUrlNotAllowed,
} from './webhooks.errors';

const endpointId = new IdPipe('whe', webhookEndpointNotFound);

@ApiTags('Webhooks')
@Controller('v1/webhooks/endpoints')
export class WebhookEndpointsController {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  @Post()
  @IdempotentInPhases()
  @Operation({
    summary: 'Register a webhook endpoint',
    description:
      'Events from now on are sent to the URL. Names that match no event type are kept and returned as `unknown_events`.',
    access: 'webhooks:write',
    status: 201,
    answer: CreatedWebhookEndpointDto,
    key: 'optional',
    problems: [webhookUrlNotAllowed, tooManyWebhookEndpoints],
  })
  async createWebhookEndpoint(
    @Body() body: CreateWebhookEndpointDto,
  ): Promise<CreatedWebhookEndpointDto> {
    const unknownEvents = this.endpoints.unknownEvents(body.events);
    return withETag(await this.endpoints.create(toEndpointTerms(body)), (endpoint) =>
      toCreatedWebhookEndpointDto(endpoint, unknownEvents),
    );
  }

  @Get()
  @Operation({
    summary: 'List webhook endpoints',
    description: 'Newest first, inactive endpoints included.',
    access: 'webhooks:read',
    answer: pageOf(WebhookEndpointDto),
  })
  async listWebhookEndpoints(@Query() query: ListQueryDto): Promise<PageDto<WebhookEndpointDto>> {
    return toPageDto(await this.endpoints.list(toPageRequest(query, 'whe')), toWebhookEndpointDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a webhook endpoint',
    description: 'Returns the endpoint without its secret.',
    access: 'webhooks:read',
    answer: WebhookEndpointDto,
    conditional: true,
    problems: [webhookEndpointNotFound],
  })
  async getWebhookEndpoint(@Param('id', endpointId) id: string): Promise<WebhookEndpointDto> {
    return withETag(await this.endpoints.get(id), toWebhookEndpointDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a webhook endpoint',
    description:
      'Changes the given fields and merges the metadata. An empty body changes nothing. Event names in the request that ' +
      'match no event type are kept and returned as `unknown_events`.',
    access: 'webhooks:write',
    answer: UpdatedWebhookEndpointDto,
    problems: [webhookEndpointNotFound, webhookUrlNotAllowed, metadataTooLarge],
  })
  async updateWebhookEndpoint(
    @Param('id', endpointId) id: string,
    @Body() body: UpdateWebhookEndpointDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<UpdatedWebhookEndpointDto> {
    const unknownEvents = this.endpoints.unknownEvents(body.events ?? []);
    return withETag(await this.endpoints.update(id, toEndpointChange(body), expected), (endpoint) =>
      toUpdatedWebhookEndpointDto(endpoint, unknownEvents),
    );
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a webhook endpoint',
    description: 'Discards pending deliveries and deletes the secrets of the endpoint.',
    access: 'webhooks:write',
    problems: [webhookEndpointNotFound],
  })
  async deleteWebhookEndpoint(
    @Param('id', endpointId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.endpoints.delete(id, expected);
  }

  @Get(':id/secret')
  @Operation({
    summary: 'Read the secret of a webhook endpoint',
    description: 'Returns the current secret, which receivers verify signatures with.',
    access: 'webhooks:write',
    answer: WebhookSecretDto,
    problems: [webhookEndpointNotFound],
  })
  async getWebhookEndpointSecret(@Param('id', endpointId) id: string): Promise<WebhookSecretDto> {
    return { secret: await this.endpoints.secretOf(id) };
  }

  @Post(':id/rotate-secret')
  @SecretAnswer()
  @Operation({
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Creates a new secret. For 24 hours, deliveries are signed with the replaced secrets as well, so that receivers ' +
      'can switch one by one.',
    access: 'webhooks:write',
    answer: RotatedWebhookSecretDto,
    key: 'optional',
    problems: [webhookEndpointNotFound, tooManyWebhookSecrets],
  })
  async rotateWebhookEndpointSecret(
    @Param('id', endpointId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<RotatedWebhookSecretDto> {
    return toRotatedWebhookSecretDto(await this.endpoints.rotateSecret(id, expected));
  }
}
