import { MetadataField } from '../../../platform/http';

export class UpdateSubscriptionDto {
  @MetadataField() readonly metadata?: Record<string, unknown>;
}
