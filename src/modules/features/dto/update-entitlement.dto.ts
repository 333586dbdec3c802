import { MetadataField, TextField } from '../../../platform/http';
import type { FeatureChange } from '../domain/feature';
import {
  inOrder,
  MAX_NAME_LENGTH,
  MAX_UNIT_LENGTH,
  ThresholdsField,
} from './create-entitlement.dto';

export class UpdateEntitlementDto {
  @TextField('Display name.', { max: MAX_NAME_LENGTH, optional: true, example: 'API calls' })
  readonly name?: string;
  @TextField('Display name of the unit that the value counts.', {
    max: MAX_UNIT_LENGTH,
    nullable: true,
    example: 'calls',
  })
  readonly unit?: string | null;
  @ThresholdsField('Percentages of the limit. Reaching one records an event, once per period.')
  readonly thresholds?: readonly number[];
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toFeatureChange(dto: UpdateEntitlementDto): FeatureChange {
  const { name, unit, thresholds, metadata } = dto;
  return {
    name,
    unit,
    thresholds: thresholds === undefined ? undefined : inOrder(thresholds),
    metadata,
  };
}
