import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, MetadataField, Omittable } from '../../../platform/http';
import type { AddonChange } from '../domain/addon';
import { LONGEST_NAME } from './create-addon.dto';

export class UpdateAddonDto {
  @Omittable()
  @IsText(1, LONGEST_NAME)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For display only.',
    example: 'Extra seats',
  })
  readonly name?: string;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toAddonChange(dto: UpdateAddonDto): AddonChange {
  return { name: dto.name, metadata: dto.metadata };
}
