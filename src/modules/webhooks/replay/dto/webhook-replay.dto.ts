import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  IsInstant,
  Omittable,
  toWireInstant,
} from '../../../../platform/http';
import { AreEventNames } from '../../dto/endpoint-fields';
import {
  MOST_REPLAYED,
  type Replay,
  REPLAY_FAILURES,
  REPLAY_STATUSES,
  type ReplayFailure,
  type ReplayStatus,
} from '../domain/replay';
import type { ReplayRequest } from '../replays.service';

export class ReplayDto {
  @IsInstant()
  @ApiProperty({
    format: 'date-time',
    description: 'First instant, inclusive.',
    example: '2026-03-01T00:00:00.000Z',
  })
  readonly from!: string;

  @IsInstant()
  @ApiProperty({
    format: 'date-time',
    description: 'Last instant, exclusive.',
    example: '2026-03-02T00:00:00.000Z',
  })
  readonly to!: string;

  @Omittable()
  @AreEventNames()
  @ApiPropertyOptional({
    type: [String],
    description: 'Event names or patterns. Default: the subscribed events of the endpoint.',
    example: ['refund.*'],
  })
  readonly events?: readonly string[];
}

export function toReplayRequest(dto: ReplayDto): ReplayRequest {
  return { from: new Date(dto.from), to: new Date(dto.to), events: dto.events ?? null };
}

export class WebhookReplayDto {
  @IdProperty('whr_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Id of the endpoint.', example: 'whe_01h455vb4pex5vsknk084sn02q' })
  readonly endpoint_id!: string;

  @InstantProperty('First instant, inclusive.')
  readonly from!: string;

  @InstantProperty('Last instant, exclusive.')
  readonly to!: string;

  @ApiProperty({ type: [String], description: 'Event names or patterns.', example: ['refund.*'] })
  readonly events!: readonly string[];

  @ApiProperty({
    enum: REPLAY_STATUSES,
    description:
      'A running replay continues in the background. A failed replay has created the deliveries counted in `replayed`.',
    example: 'completed',
  })
  readonly status!: ReplayStatus;

  @ApiProperty({
    enum: REPLAY_FAILURES,
    nullable: true,
    description: `Reason of the failure: a replay sends at most ${MOST_REPLAYED.toLocaleString('en')} events, and only to an active endpoint. Start another replay from \`read_to\`; events of that instant may be sent again.`,
    example: null,
  })
  readonly failure_code!: ReplayFailure | null;

  @InstantProperty(
    'Instant of the last event read; `from` at first. Together with `from` and `to` it shows the progress.',
  )
  readonly read_to!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Events read so far, whether they matched or not.',
    example: 250,
  })
  readonly events_read!: number;

  @ApiProperty({ type: 'integer', description: 'Deliveries created so far.', example: 12 })
  readonly replayed!: number;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toWebhookReplayDto(replay: Replay): WebhookReplayDto {
  return {
    id: replay.id,
    endpoint_id: replay.endpointId,
    from: toWireInstant(replay.fromAt),
    to: toWireInstant(replay.toAt),
    events: replay.events,
    status: replay.status,
    failure_code: replay.failureCode,
    read_to: toWireInstant(replay.readToAt),
    events_read: replay.eventsRead,
    replayed: replay.replayed,
    created_at: toWireInstant(replay.createdAt),
    updated_at: toWireInstant(replay.updatedAt),
  };
}
