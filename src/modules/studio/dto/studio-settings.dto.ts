import { validationFailed } from '../../../platform/errors';
import {
  BooleanField,
  BooleanProperty,
  CurrencyField,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MinorUnitsField,
  NestedListField,
  NestedListProperty,
  TextProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import type { SettingsChange, StudioSettings } from '../domain/studio-settings';

const MAX_CURRENCIES = 200;
const LIMITS_DESCRIPTION =
  'Per currency, how much admins with the role `support` may refund of one payment in total. In a currency without a ' +
  'limit they cannot refund.';

const SECOND_FACTOR_DESCRIPTION =
  'If true, admins who sign in with a password must first enrol a second factor.';

class RefundLimitDto {
  @TextProperty('ISO 4217 code.', 'EUR') readonly currency!: string;
  @IntegerProperty('Largest total refund of a payment, in minor units.', 5_000)
  readonly amount!: number;
}

export class StudioSettingsDto {
  @IdProperty('studio_settings') readonly id!: string;
  @NestedListProperty(RefundLimitDto, LIMITS_DESCRIPTION)
  readonly support_refund_limits!: readonly RefundLimitDto[];
  @BooleanProperty(SECOND_FACTOR_DESCRIPTION, false)
  readonly second_factor_required!: boolean;
  @InstantProperty('When they last changed.') readonly updated_at!: string;
}

export class RefundLimitInputDto {
  @CurrencyField('ISO 4217 code, unique.', { example: 'EUR' }) readonly currency!: string;
  @MinorUnitsField(0, 'Largest total refund of a payment, in minor units.', { example: 5_000 })
  readonly amount!: number;
}

export class UpdateStudioSettingsDto {
  @NestedListField(RefundLimitInputDto, `${LIMITS_DESCRIPTION} Replaces all limits.`, {
    max: MAX_CURRENCIES,
    optional: true,
  })
  readonly support_refund_limits?: readonly RefundLimitInputDto[];
  @BooleanField(SECOND_FACTOR_DESCRIPTION, { optional: true, example: true })
  readonly second_factor_required?: boolean;
}

export function toStudioSettingsDto(settings: StudioSettings): StudioSettingsDto {
  const limits = [...settings.supportRefundLimits].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    id: settings.id,
    support_refund_limits: limits.map(([currency, limit]) => ({
      currency,
      amount: toWireAmount(limit),
    })),
    second_factor_required: settings.secondFactorRequired,
    updated_at: toWireInstant(settings.updatedAt),
  };
}

/** @throws {ProblemError} `validation_failed` if a currency is given twice */
export function toSettingsChange(dto: UpdateStudioSettingsDto): SettingsChange {
  const { support_refund_limits: limits, second_factor_required: secondFactorRequired } = dto;
  return {
    supportRefundLimits: limits === undefined ? undefined : toLimits(limits),
    secondFactorRequired,
  };
}

function toLimits(limits: readonly RefundLimitInputDto[]): ReadonlyMap<string, bigint> {
  const supportRefundLimits = new Map<string, bigint>();
  for (const [index, { currency, amount }] of limits.entries()) {
    if (supportRefundLimits.has(currency)) {
      const pointer = `/support_refund_limits/${index}/currency`;
      throw validationFailed([
        { pointer, code: 'repeated', message: 'must name each currency once' },
      ]);
    }
    supportRefundLimits.set(currency, BigInt(amount));
  }
  return supportRefundLimits;
}
