import { Check, Column, Entity, Index } from 'typeorm';
import { CountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../../platform/database';
import type { Replay, ReplayFailure, ReplayStatus } from './domain/replay';

@Entity('webhook_replay')
@Check('webhook_replay_status_check', `"status" IN ('running', 'completed', 'failed')`)
@Check('webhook_replay_failure_check', `("failure_code" IS NOT NULL) = ("status" = 'failed')`)
@Index('webhook_replay_endpoint_index', ['endpointId', 'id'])
@Index('webhook_replay_running_unique', ['endpointId'], {
  unique: true,
  where: `"status" = 'running'`,
})
export class WebhookReplayEntity implements Replay {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @InstantColumn() readonly fromAt!: Date;
  @InstantColumn() readonly toAt!: Date;
  @Column({ type: 'varchar', length: 80, array: true }) readonly events!: readonly string[];
  @Column({ type: 'varchar', length: 10 }) readonly status!: ReplayStatus;
  @Column({ type: 'varchar', length: 40, nullable: true })
  readonly failureCode!: ReplayFailure | null;
  @InstantColumn() readonly readToAt!: Date;
  @ReferenceColumn() readonly readToId!: string;
  @CountColumn() readonly eventsRead!: number;
  @Column({ type: 'integer' }) readonly replayed!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
