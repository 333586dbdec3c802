import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import {
  webhookEndpointInactive,
  webhookEndpointNotFound,
  webhookReplayNotFound,
  webhookReplayRunning,
} from '../webhooks.errors';
import {
  ReplayDto,
  toReplayRequest,
  toWebhookReplayDto,
  WebhookReplayDto,
} from './dto/webhook-replay.dto';
import { ReplaysService } from './replays.service';

const endpointId = new IdPipe('whe', webhookEndpointNotFound);
const replayId = new IdPipe('whr', webhookReplayNotFound);

@ApiTags('Webhooks')
@Controller('v1/webhooks/endpoints/:id')
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  @Post('replay')
  @Operation({
    summary: 'Replay the events of a period',
    description:
      'Creates new deliveries of the events in `[from, to)`, with the same `webhook-id` as before. A short period is completed at once (`completed`). A long one continues in the background (`running`); `GET .../replays/{replay_id}` shows its progress.',
    access: 'webhooks:write',
    answer: WebhookReplayDto,
    key: 'optional',
    problems: [webhookEndpointNotFound, webhookEndpointInactive, webhookReplayRunning],
  })
  async replayWebhookEvents(
    @Param('id', endpointId) id: string,
    @Body() body: ReplayDto,
  ): Promise<WebhookReplayDto> {
    return toWebhookReplayDto(await this.replays.start(id, toReplayRequest(body)));
  }

  @Get('replays')
  @Operation({
    summary: 'List the replays to a webhook endpoint',
    description: 'Newest first, each with its progress.',
    access: 'webhooks:read',
    answer: pageOf(WebhookReplayDto),
    problems: [webhookEndpointNotFound],
  })
  async listWebhookReplays(
    @Param('id', endpointId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<WebhookReplayDto>> {
    const page = await this.replays.list(id, toPageRequest(query, 'whr'));
    return toPageDto(page, toWebhookReplayDto);
  }

  @Get('replays/:replay_id')
  @Operation({
    summary: 'Read a replay and its progress',
    description: 'Returns the progress of one replay.',
    access: 'webhooks:read',
    answer: WebhookReplayDto,
    problems: [webhookEndpointNotFound, webhookReplayNotFound],
  })
  async getWebhookReplay(
    @Param('id', endpointId) id: string,
    @Param('replay_id', replayId) replay: string,
  ): Promise<WebhookReplayDto> {
    return toWebhookReplayDto(await this.replays.get(id, replay));
  }
}
