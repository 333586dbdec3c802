import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import { type Held, shown } from '../domain/customer-entitlement';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './customer-entitlement.dto';

/** What a customer has, at the moment its usage reached a part of the limit. */
export class ReachedEntitlementDto extends CustomerEntitlementDto {
  @IdProperty('cent_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'The customer.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({ description: 'The entitlement.', example: 'ent_01h455vb4pex5vsknk084sn02q' })
  readonly entitlement_id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'The part of the limit that was reached, in percent.',
    example: 80,
  })
  readonly percent!: number;

  @InstantProperty('When the current period began; null: it has none.', { nullable: true })
  readonly period_start!: string | null;
}

export function toReachedEntitlementDto(fact: {
  readonly held: Held;
  readonly percent: number;
}): ReachedEntitlementDto {
  const { row } = fact.held;
  return {
    id: row.id,
    customer_id: row.customerId,
    entitlement_id: row.entitlementId,
    percent: fact.percent,
    period_start: toWireInstant(row.windowStartAt),
    ...toCustomerEntitlementDto(shown(fact.held)),
  };
}
