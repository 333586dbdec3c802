import Stripe from 'stripe';

/**
 * Returns the error that the SDK throws for a request. Throws if the request succeeds, or if the error does not come
 * from Stripe.
 */
export async function refused(request: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const error: unknown = await request.then(
    () => new Error('The request was not refused.'),
    (reason: unknown) => reason,
  );
  if (error instanceof Stripe.errors.StripeError) return error;
  throw error;
}

/** Creates a customer, and attaches the payment method of a test token. */
export async function customerWith(
  stripe: Stripe,
  token: string,
): Promise<{ customer: string; method: string }> {
  const customer = await stripe.customers.create({
    name: 'Grace Hopper',
    metadata: { our: 'cus_1' },
  });
  const method = await stripe.paymentMethods.attach(token, { customer: customer.id });
  return { customer: customer.id, method: method.id };
}

/** Creates an unconfirmed payment intent of a new customer. */
export async function prepared(
  stripe: Stripe,
  token: string,
  amount = 2900,
  currency = 'usd',
): Promise<Stripe.PaymentIntent & { customer: string; payment_method: string }> {
  const { customer, method } = await customerWith(stripe, token);
  const intent = await stripe.paymentIntents.create({
    amount,
    currency,
    customer,
    payment_method: method,
    metadata: { payment: 'pay_1' },
  });
  return { ...intent, customer, payment_method: method };
}

export async function paid(
  stripe: Stripe,
  token: string,
  amount = 2900,
): Promise<Stripe.PaymentIntent> {
  const intent = await prepared(stripe, token, amount);
  return stripe.paymentIntents.confirm(intent.id, { off_session: true });
}
