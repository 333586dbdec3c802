import { defineProblem } from '../../../../platform/errors';

export const paymentMethodSetupNotFound = defineProblem({
  code: 'payment_method_setup_not_found',
  kind: 'not_found',
  title: 'There is no such setup of a payment method',
  meaning: 'The id in the path is not the id of a setup of this customer.',
  detail: (id: string) => `The customer has no payment method setup ${JSON.stringify(id)}.`,
});

export const paymentMethodSetupEnded = defineProblem({
  code: 'payment_method_setup_ended',
  kind: 'conflict',
  title: 'The setup of the payment method has ended',
  meaning:
    'Only a setup with status `pending` waits for its customer. Read the setup, and create another one if it did not succeed.',
  detail: (id: string) => `The payment method setup ${id} does not wait for its customer.`,
});
