import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import {
  MOVEMENT_KINDS,
  MOVEMENT_STATES,
  type MovementKind,
  type MovementState,
} from '../../payments';
import { DIFFERENCE_TYPES, type DifferenceType } from '../difference';

export class ReconciliationDifferenceDto {
  @IdProperty('rcdf_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('The reconciliation that found it.', 'rcon_01h455vb4pex5vsknk084sn02q')
  readonly reconciliation_id!: string;
  @EnumProperty(
    DIFFERENCE_TYPES,
    '`missing_here`: money that moved at the provider is not booked. `missing_at_provider`: the provider does not know a ' +
      'booked charge or refund. `charged_twice`: a payment has a second succeeded charge. `status`: only one side says that ' +
      'the money moved.',
    'amount',
  )
  readonly type!: DifferenceType;
  @EnumProperty(MOVEMENT_KINDS, 'What differs.', 'charge') readonly object!: MovementKind;
  @TextProperty('The payment; null: unknown here.', 'pay_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly payment_id!: string | null;
  @TextProperty('The refund; null: unknown here, or the charge differs.', null, {
    nullable: true,
  })
  readonly refund_id!: string | null;
  @TextProperty("The provider's id of the charge or refund.", 'pi_3P9x2kLkdIwHu7ix', {
    nullable: true,
  })
  readonly provider_reference!: string | null;
  @IntegerProperty('Minor units of `booked_currency`; null: not booked.', 2_900, { nullable: true })
  readonly booked_amount!: number | null;
  @TextProperty('ISO 4217; null: not booked.', 'EUR', { nullable: true })
  readonly booked_currency!: string | null;
  @EnumProperty(
    MOVEMENT_STATES,
    '`succeeded`: the money moved. `open`: the money may still move. `ended`: the money will not move. Null: not booked.',
    'succeeded',
    { nullable: true },
  )
  readonly booked_status!: MovementState | null;
  @IntegerProperty('Minor units of `provider_currency`; null: unknown to the provider.', 2_800, {
    nullable: true,
  })
  readonly provider_amount!: number | null;
  @TextProperty('ISO 4217; null: unknown to the provider.', 'EUR', { nullable: true })
  readonly provider_currency!: string | null;
  @EnumProperty(
    MOVEMENT_STATES,
    'Status at the provider; null: unknown to the provider.',
    'succeeded',
    { nullable: true },
  )
  readonly provider_status!: MovementState | null;
  @InstantProperty('When it was found.') readonly created_at!: string;
}

export const toReconciliationDifferenceDto = mapperTo(ReconciliationDifferenceDto);
