import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import {
  SCHEDULED_STATUSES,
  type ScheduledChange,
  type ScheduledStatus,
} from '../domain/subscription';
import { SubscribedAddonDto } from './subscription.dto';

export class ScheduledChangeDto {
  @IdProperty('sch_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({
    enum: ['change', 'cancel'],
    description: 'Another plan, quantity or add-ons, or the end.',
    example: 'change',
  })
  readonly type!: string;

  @ApiProperty({
    enum: SCHEDULED_STATUSES,
    description: 'Whether it waits, was done, or was undone.',
    example: 'pending',
  })
  readonly status!: ScheduledStatus;

  @InstantProperty('When it is done.')
  readonly effective_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The plan afterwards; null for the end.',
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Units afterwards; null for the end.',
    example: '5',
  })
  readonly quantity!: string | null;

  @ApiProperty({
    type: [SubscribedAddonDto],
    nullable: true,
    description: 'Add-ons afterwards; null for the end.',
  })
  readonly addons!: readonly SubscribedAddonDto[] | null;

  @InstantProperty('When it was asked for.')
  readonly created_at!: string;
}

export function toScheduledChangeDto(change: ScheduledChange): ScheduledChangeDto {
  const offer = change.terms.kind === 'change' ? change.terms.offer : null;
  return {
    id: change.id,
    type: change.terms.kind,
    status: change.status,
    effective_at: toWireInstant(change.effectiveAt),
    plan_id: offer?.planId ?? null,
    quantity: offer?.quantity ?? null,
    addons: offer?.addons.map(({ addonId, quantity }) => ({ addon_id: addonId, quantity })) ?? null,
    created_at: toWireInstant(change.createdAt),
  };
}
