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
  @EnumProperty(['change', 'cancel'], 'New plan, quantity, add-ons, or cancellation.', 'change')
  readonly type!: string;
  @EnumProperty(SCHEDULED_STATUSES, 'Status: waiting, applied or undone.', 'pending')
  readonly status!: ScheduledStatus;
  @InstantProperty('When it applies.') readonly effective_at!: string;
  @TextProperty('Plan afterwards; null for `cancel`.', 'plan_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly plan_id!: string | null;
  @TextProperty('Units afterwards; null for `cancel`.', '5', { nullable: true })
  readonly quantity!: string | null;
  @NestedListProperty(SubscribedAddonDto, 'Add-ons afterwards; null for `cancel`.', {
    nullable: true,
  })
  readonly addons!: readonly SubscribedAddonDto[] | null;
  @InstantProperty('When it was requested.') readonly created_at!: string;
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
