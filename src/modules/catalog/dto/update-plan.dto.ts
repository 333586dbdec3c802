import { MetadataField, TextField } from '../../../platform/http';
import type { PlanDetailsChange } from '../domain/plan';
import { LONGEST_NAME } from './create-addon.dto';

export class UpdatePlanDto {
  @TextField('For display only.', { max: LONGEST_NAME, optional: true, example: 'Team' })
  readonly name?: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toPlanChange(dto: UpdatePlanDto): PlanDetailsChange {
  return { name: dto.name, metadata: dto.metadata };
}
