import type { Type } from '@nestjs/common';
import {
  BooleanProperty,
  IdProperty,
  NestedProperty,
  TextProperty,
  withFields,
} from '../../../platform/http';

class ExpandedPlanDto {
  @IdProperty('plan_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Code of the plan.', 'pro') readonly code!: string;
  @TextProperty('Name of the plan.', 'Pro') readonly name!: string;
  @BooleanProperty('True if the plan is archived and can no longer be read.', false)
  readonly is_archived!: boolean;
}

class WithPlanDto {
  @NestedProperty(ExpandedPlanDto, 'The plan, with `expand=plan`.', { optional: true })
  readonly plan?: ExpandedPlanDto;
}

/** Returns a DTO class for OpenAPI: the fields of the class `item`, and the optional field `plan`. */
export function withPlan<Item extends object>(item: Type<Item>): Type<Item & WithPlanDto> {
  return withFields(item, WithPlanDto, item.name.replace(/Dto$/, 'AndPlanDto'));
}
