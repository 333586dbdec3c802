import {
  EnumProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  IntegerProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../../platform/http';
import { EventListField } from '../../dto/endpoint-fields';
import {
  MAX_REPLAYED,
  type Replay,
  REPLAY_FAILURES,
  REPLAY_STATUSES,
  type ReplayFailure,
  type ReplayStatus,
} from '../domain/replay';
import type { ReplayRequest } from '../replays.service';

export class ReplayDto {
  @InstantField('Start, inclusive. Must be before `to`.', { example: '2026-03-01T00:00:00.000Z' })
  readonly from!: string;
  @InstantField('End, exclusive.', { example: '2026-03-02T00:00:00.000Z' })
  readonly to!: string;
  @EventListField('Event names or patterns. Default: the subscribed events of the endpoint.', {
    optional: true,
    example: ['refund.*'],
  })
  readonly events?: readonly string[];
}

export function toReplayRequest(dto: ReplayDto): ReplayRequest {
  return { from: new Date(dto.from), to: new Date(dto.to), events: dto.events ?? null };
}

export class WebhookReplayDto {
  @IdProperty('whr_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the endpoint.', 'whe_01h455vb4pex5vsknk084sn02q')
  readonly endpoint_id!: string;
  @InstantProperty('Start, inclusive.', { example: '2026-02-01T09:30:00.000Z' })
  readonly from!: string;
  @InstantProperty('End, exclusive.') readonly to!: string;
  @TextListProperty('Event names or patterns.', ['refund.*']) readonly events!: readonly string[];
  @EnumProperty(
    REPLAY_STATUSES,
    'A running replay continues in the background. A failed replay has created the deliveries counted in `replayed`.',
    'completed',
  )
  readonly status!: ReplayStatus;
  @EnumProperty(
    REPLAY_FAILURES,
    `Reason of the failure: a replay sends at most ${MAX_REPLAYED.toLocaleString('en')} events, and only to an active endpoint. Start another replay from \`read_to\`; events of that instant may be sent again.`,
    null,
    { nullable: true },
  )
  readonly failure_code!: ReplayFailure | null;
  @InstantProperty(
    'Instant of the last event read; `from` at first. Together with `from` and `to` it shows the progress.',
  )
  readonly read_to!: string;
  @IntegerProperty('Events read so far, whether they matched or not.', 250)
  readonly events_read!: number;
  @IntegerProperty('Deliveries created so far.', 12) readonly replayed!: number;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toWebhookReplayDto(replay: Replay): WebhookReplayDto {
  return toDto(WebhookReplayDto, {
    ...replay,
    from: replay.fromAt,
    to: replay.toAt,
    readTo: replay.readToAt,
  });
}
