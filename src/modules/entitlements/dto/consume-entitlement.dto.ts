import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { parseDecimal } from '../../../core/decimal';
import { IsDecimal } from '../../../platform/http';
import type { Consumption, ConsumptionRequest } from '../domain/consumption';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './customer-entitlement.dto';

export class ConsumeEntitlementDto {
  @IsDecimal()
  @ApiProperty({ description: 'Quantity to consume, as a decimal string.', example: '1' })
  readonly quantity!: string;

  @Matches(/^[\x20-\x7e]{1,255}$/, { message: 'must be 1 to 255 printable ASCII characters' })
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    description:
      'Chosen by the client; unique for ever per customer and entitlement. A repeated key counts once and gets the first answer.',
    example: 'request-7f3c',
  })
  readonly idempotency_key!: string;
}

export class ConsumptionDto extends CustomerEntitlementDto {
  @ApiProperty({
    description: 'True if the quantity was allowed and counted; false if nothing was counted.',
    example: true,
  })
  readonly allowed!: boolean;
}

export function toConsumeRequest(dto: ConsumeEntitlementDto): ConsumptionRequest {
  return { quantity: parseDecimal(dto.quantity), idempotencyKey: dto.idempotency_key };
}

export function toConsumptionDto({ isAllowed, state }: Consumption): ConsumptionDto {
  return { allowed: isAllowed, ...toCustomerEntitlementDto(state) };
}
