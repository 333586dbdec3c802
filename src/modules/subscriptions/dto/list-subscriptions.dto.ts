import { EnumField, ListQueryDto, ReferenceFilter } from '../../../platform/http';
import { SUBSCRIPTION_STATUSES, type SubscriptionStatus } from '../domain/subscription';

export class ListSubscriptionsDto extends ListQueryDto {
  @ReferenceFilter('Only the subscriptions of this customer.') readonly customer_id?: string;
  @EnumField(SUBSCRIPTION_STATUSES, 'Only subscriptions that stand here.', { optional: true })
  readonly status?: SubscriptionStatus;
}
