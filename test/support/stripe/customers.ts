import type Stripe from 'stripe';
import { type Account } from './account';
import { noSuch } from './errors';
import { fullAddress, mergedMetadata } from './fields';
import { type RequestParameters } from './parameters';
import { attach } from './payment-methods';

type Create = RequestParameters['customers.create'];
type Update = RequestParameters['customers.update'];

export function createCustomer(account: Account, parameters: Create): Stripe.Customer {
  const customer = {
    id: account.newId('cus'),
    object: 'customer',
    address: null,
    balance: 0,
    created: account.now,
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: account.newId('').slice(1, 9).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: account.livemode,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  } satisfies Stripe.Customer;
  account.customers.set(customer.id, customer);
  try {
    const { payment_method: method, invoice_settings: settings, ...rest } = parameters;
    if (method !== undefined) {
      const attached = attach(account, method, customer.id);
      // A test token as the default payment method means the method that the same token has just created.
      const chosen = settings?.default_payment_method;
      apply(account, customer, {
        ...rest,
        ...(settings && {
          invoice_settings: {
            ...settings,
            ...(chosen !== undefined && {
              default_payment_method: chosen === method ? attached.id : chosen,
            }),
          },
        }),
      });
    } else {
      apply(account, customer, { ...rest, ...(settings && { invoice_settings: settings }) });
    }
  } catch (error) {
    account.customers.delete(customer.id);
    throw error;
  }
  account.record('customer.created', customer);
  return customer;
}

export function updateCustomer(account: Account, id: string, parameters: Update): Stripe.Customer {
  const customer = findCustomer(account, id, 'id');
  apply(account, customer, parameters);
  account.record('customer.updated', customer);
  return customer;
}

export function retrieveCustomer(
  account: Account,
  id: string,
): Stripe.Customer | Stripe.DeletedCustomer {
  return account.deletedCustomers.get(id) ?? findCustomer(account, id, 'id');
}

/** Deletes a customer and detaches their payment methods. */
export function deleteCustomer(account: Account, id: string): Stripe.DeletedCustomer {
  const customer = findCustomer(account, id, 'id');
  for (const method of account.paymentMethods.values()) {
    if (method.customer !== id) continue;
    method.customer = null;
    account.spentMethods.add(method.id);
  }
  const deleted = { id, object: 'customer', deleted: true } satisfies Stripe.DeletedCustomer;
  account.customers.delete(id);
  account.deletedCustomers.set(id, deleted);
  account.record('customer.deleted', customer);
  return deleted;
}

/** @throws Refusal if the customer does not exist or was deleted: 404 for an id in the path, 400 for a parameter. */
export function findCustomer(account: Account, id: string, param: string): Stripe.Customer {
  const customer = account.customers.get(id);
  if (!customer) throw noSuch('customer', id, param);
  return customer;
}

function apply(account: Account, customer: Stripe.Customer, changes: Update): void {
  const { metadata, address, invoice_settings: settings, ...rest } = changes;
  const { expand: _, preferred_locales: locales, ...texts } = rest;
  if (settings?.default_payment_method !== undefined) {
    const method = settings.default_payment_method;
    const owner = account.paymentMethods.get(method)?.customer;
    if (method !== '' && owner !== customer.id)
      throw noSuch('PaymentMethod', method, 'invoice_settings[default_payment_method]');
    customer.invoice_settings.default_payment_method = method === '' ? null : method;
  }
  for (const [name, value] of Object.entries(texts)) {
    // An empty text clears the field.
    Object.assign(customer, { [name]: value === '' ? null : value });
  }
  if (locales) customer.preferred_locales = locales;
  if (address !== undefined)
    customer.address = address === '' || address === null ? null : fullAddress(address);
  if (metadata !== undefined) customer.metadata = mergedMetadata(customer.metadata, metadata);
}
