import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { parseDecimal } from '../../../core/decimal';
import { IsDecimal } from '../../../platform/http';
import type { Consumption, ConsumptionRequest } from '../domain/consumption';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './customer-entitlement.dto';

export class ConsumeEntitlementDto {
  @IsDecimal()
  @ApiProperty({ description: 'How much to use, as a decimal string.', example: '1' })
  readonly quantity!: string;

  @Matches(/^[\x20-\x7e]{1,255}$/, { message: 'must be 1 to 255 printable ASCII characters' })
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    description:
      'Chosen by the client, unique for ever for this customer and entitlement: the same key counts once and gets the same answer.',
    example: 'request-7f3c',
  })
  readonly idempotency_key!: string;
}

export class ConsumptionDto extends CustomerEntitlementDto {
  @ApiProperty({
    description: 'Whether it was allowed, and counted; if not, nothing was.',
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
