import { MetadataField, TextField } from '../../../platform/http';
import type { PlanDetailsChange } from '../domain/plan';
import { MAX_NAME_LENGTH } from './create-addon.dto';

export class UpdatePlanDto {
  @TextField('For display only.', { max: MAX_NAME_LENGTH, optional: true, example: 'Team' })
  readonly name?: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toPlanChange(dto: UpdatePlanDto): PlanDetailsChange {
  return { name: dto.name, metadata: dto.metadata };
}
