import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  toWireInstant,
} from '../../../platform/http';
import { type BalanceRecord, toCustomerEntitlement } from '../domain/customer-entitlement';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './customer-entitlement.dto';

/** State of a customer's entitlement when its usage reached a threshold. */
export class ReachedEntitlementDto extends CustomerEntitlementDto {
  @IdProperty('cent_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('Id of the entitlement.', 'ent_01h455vb4pex5vsknk084sn02q')
  readonly entitlement_id!: string;
  @IntegerProperty('Threshold that was reached, in percent of the limit.', 80)
  readonly percent!: number;
  @InstantProperty('Start of the current period; null: there is none.', { nullable: true })
  readonly period_start!: string | null;
}

export function toReachedEntitlementDto(reached: {
  readonly record: BalanceRecord;
  readonly percent: number;
}): ReachedEntitlementDto {
  const { row } = reached.record;
  return {
    id: row.id,
    customer_id: row.customerId,
    entitlement_id: row.entitlementId,
    percent: reached.percent,
    period_start: toWireInstant(row.windowStartAt),
    ...toCustomerEntitlementDto(toCustomerEntitlement(reached.record)),
  };
}
