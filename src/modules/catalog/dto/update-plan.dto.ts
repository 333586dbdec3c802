import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, MetadataField, Omittable } from '../../../platform/http';
import type { PlanChange } from '../domain/plan';
import { LONGEST_NAME } from './create-addon.dto';

export class UpdatePlanDto {
  @Omittable()
  @IsText(1, LONGEST_NAME)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For display only.',
    example: 'Team',
  })
  readonly name?: string;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toPlanChange(dto: UpdatePlanDto): PlanChange {
  return { name: dto.name, metadata: dto.metadata };
}
