import {
  BooleanField,
  BooleanProperty,
  EnumField,
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  mapperTo,
} from '../../../../../platform/http';
import {
  SETUP_PROVIDERS,
  type SetupProvider,
  SETUP_STATUSES,
  type SetupStatus,
} from '../domain/payment-method-setup';

export class CreatePaymentMethodSetupDto {
  @EnumField(SETUP_PROVIDERS, 'Where the customer enters the payment method.', {
    example: 'stripe',
  })
  readonly provider!: SetupProvider;
  @BooleanField(
    'True if the method becomes the default. Left out: only if the customer has no usable default.',
    { optional: true, example: true },
  )
  readonly is_default?: boolean;
}

export class PaymentMethodSetupDto {
  @IdProperty('pms_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Whose payment method it is.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @EnumProperty(SETUP_PROVIDERS, 'Where the customer enters the payment method.', 'stripe')
  readonly provider!: SetupProvider;
  @EnumProperty(
    SETUP_STATUSES,
    'The status. `pending`: waits for the customer, who may try again after a failed attempt. `failed` and `expired`: the time ended, with and without a failed attempt.',
    'pending',
  )
  readonly status!: SetupStatus;
  @BooleanProperty(
    'True if the method becomes the default. Null: only if the customer has no usable default.',
    true,
    { nullable: true },
  )
  readonly is_default!: boolean | null;
  @TextProperty('The payment method, once the setup succeeded.', null, { nullable: true })
  readonly payment_method_id!: string | null;
  @TextProperty('Why the last attempt of the customer failed.', null, { nullable: true })
  readonly failure_code!: string | null;
  @InstantProperty('Time at which the setup is canceled.', { example: '2026-03-02T09:30:00.000Z' })
  readonly expires_at!: string;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export class SetupSecretDto {
  @IdProperty('pms_01h455vb4pex5vsknk084sn02q') readonly setup_id!: string;
  @EnumProperty(SETUP_PROVIDERS, 'Provider whose script sets it up.', 'stripe')
  readonly provider!: SetupProvider;
  @TextProperty(
    'Secret for the provider’s script.',
    'seti_1NG8Du2eZvKYlo2CXcYFNjvL_secret_O2CbVB3lMzXXTnYBQ7JHc6',
  )
  readonly client_secret!: string;
  @InstantProperty('Time at which the setup is canceled.') readonly expires_at!: string;
}

export const toPaymentMethodSetupDto = mapperTo(PaymentMethodSetupDto);

export const toSetupSecretDto = mapperTo(SetupSecretDto);
