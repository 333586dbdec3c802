import type Stripe from 'stripe';
import { type Account } from './account';
import {
  createCustomer,
  deleteCustomer,
  findCustomer,
  retrieveCustomer,
  updateCustomer,
} from './customers';
import { findDispute } from './disputes';
import { invalidRequest, noSuch } from './errors';
import { page } from './lists';
import { type OperationName, type RequestParameters } from './parameters';
import { attach, createPaymentMethod, detach, findMethod } from './payment-methods';
import {
  cancelPaymentIntent,
  confirmPaymentIntent,
  createPaymentIntent,
  findPaymentIntent,
} from './payment-intents';
import { createRefund, findRefund } from './refunds';
import {
  cancelSetupIntent,
  confirmSetupIntent,
  createSetupIntent,
  findSetupIntent,
} from './setup-intents';

/** Result of the SDK method that an operation is named after. An implementation with another result does not compile. */
type Answer<Name extends OperationName> = Name extends `${infer Resource}.${infer Method}`
  ? Resource extends keyof Stripe
    ? Method extends keyof Stripe[Resource]
      ? Stripe[Resource][Method] extends (...parameters: never[]) => Promise<infer Resolved>
        ? Omit<Resolved, 'lastResponse'>
        : never
      : never
    : never
  : never;

export interface Operation<Name extends OperationName> {
  readonly route: string;
  readonly run: (account: Account, id: string, parameters: RequestParameters[Name]) => Answer<Name>;
}

export const OPERATIONS: { readonly [Name in OperationName]: Operation<Name> } = {
  'customers.create': {
    route: 'POST /v1/customers',
    run: (account, _, parameters) => createCustomer(account, parameters),
  },
  'customers.update': { route: 'POST /v1/customers/{id}', run: updateCustomer },
  'customers.retrieve': { route: 'GET /v1/customers/{id}', run: retrieveCustomer },
  'customers.del': { route: 'DELETE /v1/customers/{id}', run: deleteCustomer },
  'customers.list': {
    route: 'GET /v1/customers',
    run: (account, _, parameters) =>
      page('/v1/customers', account.customers, parameters, ({ email }) =>
        fits(parameters.email, email),
      ),
  },
  'customers.listPaymentMethods': {
    route: 'GET /v1/customers/{id}/payment_methods',
    run: (account, id, parameters) => {
      findCustomer(account, id, 'id');
      return page(
        `/v1/customers/${id}/payment_methods`,
        account.paymentMethods,
        parameters,
        ({ customer, type }) => customer === id && fits(parameters.type, type),
      );
    },
  },
  'paymentMethods.create': {
    route: 'POST /v1/payment_methods',
    run: (account, _, parameters) => createPaymentMethod(account, parameters),
  },
  'paymentMethods.retrieve': {
    route: 'GET /v1/payment_methods/{id}',
    run: (account, id) => findMethod(account, id, 'id'),
  },
  'paymentMethods.list': {
    route: 'GET /v1/payment_methods',
    run: (account, _, parameters) => {
      if (parameters.customer === undefined) {
        throw invalidRequest('The test double of Stripe lists payment methods by customer only.', {
          param: 'customer',
        });
      }
      findCustomer(account, parameters.customer, 'customer');
      return page(
        '/v1/payment_methods',
        account.paymentMethods,
        parameters,
        ({ customer, type }) => customer === parameters.customer && fits(parameters.type, type),
      );
    },
  },
  'paymentMethods.attach': {
    route: 'POST /v1/payment_methods/{id}/attach',
    run: (account, id, { customer }) => {
      if (customer === undefined) {
        throw invalidRequest('Missing required param: customer.', {
          code: 'parameter_missing',
          param: 'customer',
        });
      }
      findCustomer(account, customer, 'customer');
      return attach(account, id, customer);
    },
  },
  'paymentMethods.detach': { route: 'POST /v1/payment_methods/{id}/detach', run: detach },
  'paymentIntents.create': {
    route: 'POST /v1/payment_intents',
    run: (account, _, parameters) => createPaymentIntent(account, parameters),
  },
  'paymentIntents.confirm': {
    route: 'POST /v1/payment_intents/{id}/confirm',
    run: confirmPaymentIntent,
  },
  'paymentIntents.retrieve': {
    route: 'GET /v1/payment_intents/{id}',
    run: (account, id) => findPaymentIntent(account, id),
  },
  'paymentIntents.cancel': {
    route: 'POST /v1/payment_intents/{id}/cancel',
    run: (account, id, parameters) =>
      cancelPaymentIntent(account, id, parameters.cancellation_reason),
  },
  'paymentIntents.list': {
    route: 'GET /v1/payment_intents',
    run: (account, _, parameters) =>
      page('/v1/payment_intents', account.paymentIntents, parameters, ({ customer }) =>
        fits(parameters.customer, customer),
      ),
  },
  'setupIntents.create': {
    route: 'POST /v1/setup_intents',
    run: (account, _, parameters) => createSetupIntent(account, parameters),
  },
  'setupIntents.confirm': {
    route: 'POST /v1/setup_intents/{id}/confirm',
    run: confirmSetupIntent,
  },
  'setupIntents.retrieve': {
    route: 'GET /v1/setup_intents/{id}',
    run: (account, id) => findSetupIntent(account, id),
  },
  'setupIntents.cancel': {
    route: 'POST /v1/setup_intents/{id}/cancel',
    run: (account, id, parameters) =>
      cancelSetupIntent(account, id, parameters.cancellation_reason),
  },
  'setupIntents.list': {
    route: 'GET /v1/setup_intents',
    run: (account, _, parameters) =>
      page('/v1/setup_intents', account.setupIntents, parameters, ({ customer }) =>
        fits(parameters.customer, customer),
      ),
  },
  'refunds.create': {
    route: 'POST /v1/refunds',
    run: (account, _, parameters) => createRefund(account, parameters),
  },
  'refunds.retrieve': { route: 'GET /v1/refunds/{id}', run: findRefund },
  'refunds.list': {
    route: 'GET /v1/refunds',
    run: (account, _, parameters) =>
      page('/v1/refunds', account.refunds, parameters, ofCharge(parameters)),
  },
  'charges.retrieve': {
    route: 'GET /v1/charges/{id}',
    run: (account, id) => found(account.charges, 'charge', id),
  },
  'charges.list': {
    route: 'GET /v1/charges',
    run: (account, _, parameters) =>
      page(
        '/v1/charges',
        account.charges,
        parameters,
        ({ customer, payment_intent: intent }) =>
          fits(parameters.customer, customer) && fits(parameters.payment_intent, intent),
      ),
  },
  'disputes.retrieve': { route: 'GET /v1/disputes/{id}', run: findDispute },
  'disputes.list': {
    route: 'GET /v1/disputes',
    run: (account, _, parameters) =>
      page('/v1/disputes', account.disputes, parameters, ofCharge(parameters)),
  },
  'balanceTransactions.retrieve': {
    route: 'GET /v1/balance_transactions/{id}',
    run: (account, id) => found(account.balanceTransactions, 'balance transaction', id),
  },
  'balanceTransactions.list': {
    route: 'GET /v1/balance_transactions',
    run: (account, _, parameters) =>
      page(
        '/v1/balance_transactions',
        account.balanceTransactions,
        parameters,
        ({ currency, source, type }) =>
          fits(parameters.currency, currency) &&
          fits(parameters.source, source) &&
          fits(parameters.type, type),
      ),
  },
  'mandates.retrieve': {
    route: 'GET /v1/mandates/{id}',
    run: (account, id) => found(account.mandates, 'mandate', id),
  },
  'events.retrieve': {
    route: 'GET /v1/events/{id}',
    run: (account, id) => {
      account.forgetOldEvents();
      return found(account.events, 'event', id) as Stripe.Event;
    },
  },
  'events.list': {
    route: 'GET /v1/events',
    run: (account, _, parameters) => {
      account.forgetOldEvents();
      return page(
        '/v1/events',
        account.events,
        parameters,
        ({ type }) =>
          matchesType(parameters.type, type) &&
          (parameters.types?.some((pattern) => matchesType(pattern, type)) ?? true),
      ) as Stripe.ApiList<Stripe.Event>;
    },
  },
};

function found<Item>(items: ReadonlyMap<string, Item>, kind: string, id: string): Item {
  const item = items.get(id);
  if (!item) throw noSuch(kind, id, 'id');
  return item;
}

function fits(wanted: string | undefined, actual: unknown): boolean {
  return wanted === undefined || wanted === actual;
}

function ofCharge(wanted: { charge?: string; payment_intent?: string }) {
  return ({
    charge,
    payment_intent: intent,
  }: {
    charge: unknown;
    payment_intent: unknown;
  }): boolean => fits(wanted.charge, charge) && fits(wanted.payment_intent, intent);
}

/** Returns true if an event type matches a pattern: one type, or a group such as `charge.dispute.*`. */
function matchesType(pattern: string | undefined, type: string): boolean {
  if (pattern?.endsWith('*')) return type.startsWith(pattern.slice(0, -1));
  return pattern === undefined || pattern === type;
}
