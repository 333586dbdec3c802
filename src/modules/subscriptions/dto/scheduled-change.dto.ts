import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  NestedListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import {
  SCHEDULED_STATUSES,
  type ScheduledChange,
  type ScheduledStatus,
} from '../domain/subscription';
import { SubscribedAddonDto } from './subscription.dto';

export class ScheduledChangeDto {
  @IdProperty('sch_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @EnumProperty(['change', 'cancel'], 'Another plan, quantity or add-ons, or the end.', 'change')
  readonly type!: string;
  @EnumProperty(SCHEDULED_STATUSES, 'Whether it waits, was done, or was undone.', 'pending')
  readonly status!: ScheduledStatus;
  @InstantProperty('When it is done.') readonly effective_at!: string;
  @TextProperty('The plan afterwards; null for the end.', 'plan_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly plan_id!: string | null;
  @TextProperty('Units afterwards; null for the end.', '5', { nullable: true })
  readonly quantity!: string | null;
  @NestedListProperty(SubscribedAddonDto, 'Add-ons afterwards; null for the end.', {
    nullable: true,
  })
  readonly addons!: readonly SubscribedAddonDto[] | null;
  @InstantProperty('When it was asked for.') readonly created_at!: string;
}

export function toScheduledChangeDto(change: ScheduledChange): ScheduledChangeDto {
  const offer = change.terms.kind === 'change' ? change.terms.offer : null;
  return toDto(ScheduledChangeDto, {
    ...change,
    type: change.terms.kind,
    planId: offer?.planId ?? null,
    quantity: offer?.quantity ?? null,
    addons: offer?.addons.map((addon) => toDto(SubscribedAddonDto, addon)) ?? null,
  });
}
