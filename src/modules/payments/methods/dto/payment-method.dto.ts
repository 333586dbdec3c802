import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  mapperTo,
} from '../../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';

export class PaymentMethodDto {
  @IdProperty('pm_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Whose it is.', 'cus_01h455vb4pex5vsknk084sn02q') readonly customer_id!: string;
  @EnumProperty(PROVIDER_NAMES, 'Who charges it.', 'sandbox') readonly provider!: ProviderName;
  @TextProperty('Id or token at the provider.', 'pm_sandbox_ok') readonly token!: string;
  @TextProperty('Brand of the card, if the provider reports it.', null, { nullable: true })
  readonly brand!: string | null;
  @TextProperty('Last four digits of the card or account, if the provider reports them.', null, {
    nullable: true,
  })
  readonly last4!: string | null;
  @IntegerProperty('Month in which the card expires, 1 to 12.', null, { nullable: true })
  readonly expiry_month!: number | null;
  @IntegerProperty('Year in which the card expires.', null, { nullable: true })
  readonly expiry_year!: number | null;
  @BooleanProperty('True if payments that name no payment method charge this one.', true)
  readonly is_default!: boolean;
  @InstantProperty(
    'Time of a final decline, e.g. because the card was stolen or expired: automatic collection no longer charges it. Null while it is usable.',
    { nullable: true, example: null },
  )
  readonly unusable_since!: string | null;
  @TextProperty('Failure code of that decline.', null, { nullable: true })
  readonly unusable_reason!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toPaymentMethodDto = mapperTo(PaymentMethodDto);
