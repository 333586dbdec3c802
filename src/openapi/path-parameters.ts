import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';
import { exampleId, METER, USAGE_EVENT } from './story';

interface PathParameter {
  readonly description: string;
  readonly example: string;
}

function idOf(noun: string, prefix: string): PathParameter {
  return { description: `Id of the ${noun}.`, example: exampleId(prefix) };
}

/** Descriptions of all path parameters. The key is the path up to and including the parameter. */
const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  '/v1/addon-entitlements/{id}': idOf('add-on entitlement', 'aent'),
  '/v1/addons/{id}': idOf('add-on', 'addon'),
  '/v1/api-keys/{id}': idOf('API key', 'key'),
  '/v1/audit-log/{id}': idOf('audit log entry', 'aud'),
  '/v1/coupons/{id}': idOf('coupon', 'coup'),
  '/v1/credit-notes/{id}': idOf('credit note', 'cn'),
  '/v1/customers/{customer_id}': idOf('customer', 'cus'),
  '/v1/customers/{customer_id}/payment-method-setups/{id}': idOf('payment method setup', 'pms'),
  '/v1/customers/{customer_id}/payment-methods/{id}': idOf('payment method', 'pm'),
  '/v1/customers/{id}': idOf('customer', 'cus'),
  '/v1/customers/{id}/entitlements/{key}/grants/{grantId}': idOf('grant', 'grant'),
  '/v1/customers/{id}/tokens/{token_id}': idOf('customer token', 'ctok'),
  '/v1/disputes/{id}': idOf('dispute', 'dsp'),
  '/v1/entitlements/{id}': idOf('entitlement', 'ent'),
  '/v1/events/{id}': idOf('event', 'evt'),
  '/v1/invoices/{id}': idOf('invoice', 'inv'),
  '/v1/invoices/{id}/lines/{line_id}': idOf('invoice line', 'il'),
  '/v1/meters/{id}': idOf('meter', 'meter'),
  '/v1/payments/{id}': idOf('payment', 'pay'),
  '/v1/plans/{id}': idOf('plan', 'plan'),
  '/v1/provider-discrepancies/{id}': idOf('provider discrepancy', 'dscr'),
  '/v1/reconciliations/{id}': idOf('reconciliation', 'rcon'),
  '/v1/refunds/payment/{paymentId}': idOf('payment', 'pay'),
  '/v1/refunds/{id}': idOf('refund', 'ref'),
  '/v1/sandbox/payments/{id}': idOf('payment', 'pay'),
  '/v1/sandbox/refunds/{id}': idOf('refund', 'ref'),
  '/v1/sessions/{id}': idOf('session', 'sess'),
  '/v1/studio/{id}': idOf('studio admin', 'admin'),
  '/v1/subscriptions/{id}': idOf('subscription', 'sub'),
  '/v1/subscriptions/{id}/coupons/{redemption_id}': idOf('redemption', 'red'),
  '/v1/subscriptions/{id}/scheduled-changes/{change_id}': idOf('scheduled change', 'sch'),
  '/v1/tax-rates/{id}': idOf('tax rate', 'txr'),
  '/v1/test-clocks/{id}': idOf('test clock', 'clock'),
  '/v1/webhooks/deliveries/{id}': idOf('webhook delivery', 'whd'),
  '/v1/webhooks/endpoints/{id}': idOf('webhook endpoint', 'whe'),
  '/v1/webhooks/endpoints/{id}/replays/{replay_id}': idOf('webhook replay', 'whr'),
  '/v1/customers/{id}/entitlements/{key}': {
    description: 'Key of the entitlement.',
    example: METER.key,
  },
  '/v1/usage-events/{idempotency_key}': {
    description: 'Idempotency key of the usage event, percent-encoded.',
    example: USAGE_EVENT.idempotency_key,
  },
};

export function describePathParameters({ paths }: OpenAPIObject): void {
  for (const { path, operation } of operationsOf(paths)) {
    for (const parameter of operation.parameters ?? []) {
      if (!('in' in parameter) || parameter.in !== 'path') continue;
      const end = path.indexOf(`{${parameter.name}}`) + parameter.name.length + 2;
      const known = PATH_PARAMETERS[path.slice(0, end)];
      if (known === undefined)
        throw new Error(
          `Describe {${parameter.name}} of ${path} in src/openapi/path-parameters.ts.`,
        );
      Object.assign(parameter, known);
    }
  }
}
