import { validationFailed } from '../../../platform/errors';
import {
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

const MOST_CURRENCIES = 200;
const LIMITS_DESCRIPTION =
  'How much of a payment admins with the role `support` may refund in all, by currency. They refund no payment in a currency ' +
  'without a limit.';

class RefundLimitDto {
  @TextProperty('ISO 4217 code.', 'EUR')
  readonly currency!: string;
  @IntegerProperty('Largest refunded sum of a payment, in minor units.', 5_000)
  readonly amount!: number;
}

export class StudioSettingsDto {
  @IdProperty('studio_settings')
  readonly id!: string;
  @NestedListProperty(RefundLimitDto, LIMITS_DESCRIPTION)
  readonly support_refund_limits!: readonly RefundLimitDto[];
  @InstantProperty('When they last changed.')
  readonly updated_at!: string;
}

export class RefundLimitInputDto {
  @CurrencyField('ISO 4217 code, each once.', { example: 'EUR' })
  readonly currency!: string;
  @MinorUnitsField(0, 'Largest refunded sum of a payment, in minor units.', { example: 5_000 })
  readonly amount!: number;
}

export class UpdateStudioSettingsDto {
  @NestedListField(RefundLimitInputDto, `${LIMITS_DESCRIPTION} Replaces all limits.`, {
    most: MOST_CURRENCIES,
  })
  readonly support_refund_limits!: readonly RefundLimitInputDto[];
}

export function toStudioSettingsDto(settings: StudioSettings): StudioSettingsDto {
  const limits = [...settings.supportRefundLimits].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    id: settings.id,
    support_refund_limits: limits.map(([currency, limit]) => ({
      currency,
      amount: toWireAmount(limit),
    })),
    updated_at: toWireInstant(settings.updatedAt),
  };
}

/** @throws {ProblemError} `validation_failed` for a currency that is named twice */
export function toSettingsChange({
  support_refund_limits: limits,
}: UpdateStudioSettingsDto): SettingsChange {
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
  return { supportRefundLimits };
}
