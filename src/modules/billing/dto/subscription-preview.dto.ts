import {
  InstantProperty,
  ObjectProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import { InvoicePreviewDto, toInvoicePreviewDto } from '../../invoicing';
import { SubscriptionDto } from '../../subscriptions';
import type { SubscriptionPreview } from '../subscriptions/preview-invoice.workflow';

/**
 * Preview of the invoice that a command would make. If the command would make none, preview of the next invoice. A
 * preview has no id and no number.
 */
export class SubscriptionPreviewDto extends InvoicePreviewDto {
  @ObjectProperty('subscription_preview') readonly object!: 'subscription_preview';
  @TextProperty(
    'Plan version that the subscription would have at `bills_at`.',
    'planv_01h455vb4pex5vsknk084sn02q',
  )
  readonly plan_version_id!: string;
  @InstantProperty(
    'When the invoice would be made: now, or, if the command bills nothing, with the next billing.',
  )
  readonly bills_at!: string;
}

export function toSubscriptionPreviewDto(preview: SubscriptionPreview): SubscriptionPreviewDto {
  return {
    object: 'subscription_preview',
    ...toInvoicePreviewDto(preview.invoice),
    plan_version_id: preview.planVersionId,
    bills_at: toWireInstant(preview.billsAt),
  };
}

/** DTO classes of the response, by the value of its `object` field. */
export const SUBSCRIPTION_OR_PREVIEW = {
  subscription: SubscriptionDto,
  subscription_preview: SubscriptionPreviewDto,
};
export type SubscriptionOrPreview = Promise<SubscriptionDto | SubscriptionPreviewDto>;
