import { parseDecimal } from '../../../core/decimal';
import {
  BooleanProperty,
  DECIMAL_TEXT,
  DecimalField,
  KEY_TEXT,
  KeyField,
} from '../../../platform/http';
import type { Consumption, ConsumptionRequest } from '../domain/consumption';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './customer-entitlement.dto';

export class ConsumeEntitlementDto {
  @DecimalField('Quantity to consume, as a decimal string.', { example: '1' })
  readonly quantity!: string;
  @KeyField(
    'Chosen by the client; unique for ever per customer and entitlement. A repeated key counts once and gets the first answer.',
    { example: 'request-7f3c' },
  )
  readonly idempotency_key!: string;

  static isValid(body: unknown): boolean {
    if (typeof body !== 'object' || body === null || Object.keys(body).length !== 2) return false;
    const { quantity, idempotency_key: key } = body as Partial<ConsumeEntitlementDto>;
    return (
      typeof quantity === 'string' &&
      DECIMAL_TEXT.test(quantity) &&
      typeof key === 'string' &&
      KEY_TEXT.test(key)
    );
  }
}

export class ConsumptionDto extends CustomerEntitlementDto {
  @BooleanProperty(
    'True if the quantity was allowed and counted; false if nothing was counted.',
    true,
  )
  readonly allowed!: boolean;
}

export function toConsumeRequest(dto: ConsumeEntitlementDto): ConsumptionRequest {
  return { quantity: parseDecimal(dto.quantity), idempotencyKey: dto.idempotency_key };
}

export function toConsumptionDto({ isAllowed, state }: Consumption): ConsumptionDto {
  return { allowed: isAllowed, ...toCustomerEntitlementDto(state) };
}
