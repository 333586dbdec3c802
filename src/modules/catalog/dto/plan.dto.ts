import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import type { Plan } from '../domain/plan';
import { PlanVersionTermsDto, toPlanVersionTermsDto } from './plan-version.dto';

/** A plan with the terms of its active version. */
export class PlanDto extends PlanVersionTermsDto {
  @IdProperty('plan_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Your code for the plan; unique forever.', 'team-monthly') readonly code!: string;
  @TextProperty('For display only.', 'Team') readonly name!: string;
  @TextProperty('ISO 4217; the currency of all prices.', 'EUR') readonly currency!: string;
  @TextProperty(
    'Id of the active version, whose terms are shown.',
    'planv_01h455vb4pex5vsknk084sn02q',
  )
  readonly version_id!: string;
  @IntegerProperty('Number of the active version.', 1) readonly version!: number;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toPlanDto(plan: Plan): PlanDto {
  return {
    id: plan.id,
    code: plan.code,
    name: plan.name,
    currency: plan.currency,
    version_id: plan.activeVersion.id,
    version: plan.activeVersion.number,
    ...toPlanVersionTermsDto(plan.activeVersion),
    metadata: plan.metadata,
    created_at: toWireInstant(plan.createdAt),
    updated_at: toWireInstant(plan.updatedAt),
  };
}
