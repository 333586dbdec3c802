import { MetadataField, TextField } from '../../../platform/http';
import type { AddonChange } from '../domain/addon';
import { MAX_NAME_LENGTH } from './create-addon.dto';

export class UpdateAddonDto {
  @TextField('For display only.', { max: MAX_NAME_LENGTH, optional: true, example: 'Extra seats' })
  readonly name?: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toAddonChange(dto: UpdateAddonDto): AddonChange {
  return { name: dto.name, metadata: dto.metadata };
}
