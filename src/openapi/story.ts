/**
 * A step of {@link STORY}. The steps are the request examples of the OpenAPI document, in an order in which a new
 * engine accepts all of them. One customer pays in euros for one plan with one add-on, one meter and one coupon. An id
 * in an example stands for the latest object of its kind that an earlier step made.
 */

interface Step {
  readonly operationId: string;
  /** The operation needs the session of an admin. Other callers are refused. */
  readonly isForAdmins?: true;
  /** The operation needs Stripe, which is switched off by default. Without Stripe, the operation is refused. */
  readonly isForStripe?: true;
  /** Absent for an operation without a body. Such an operation is a step only because a later step needs its result. */
  readonly body?: object;
}

export function exampleId(prefix: string): string {
  return `${prefix}_01h455vb4pex5vsknk084sn02q`;
}

export const METER = {
  key: 'api_calls',
  name: 'API calls',
  event_name: 'api_call',
  aggregation: 'count',
  filters: [{ property: 'region', in: ['eu', 'us'] }],
};

const BASE_FEE = { name: 'Base fee', model: 'flat', timing: 'in_advance', amount: 2_900 };

const CALLS = {
  name: 'API calls',
  model: 'graduated',
  timing: 'in_arrears',
  meter_id: exampleId('meter'),
};

const TIERS = [
  { up_to: '10000', unit_amount: '0' },
  { up_to: null, unit_amount: '0.2' },
];

const NEW_TIERS = [
  { up_to: '10000', unit_amount: '0' },
  { up_to: null, unit_amount: '0.25' },
];

const ALLOWANCE = { entitlement_id: exampleId('ent'), value: '10000', is_hard_limit: false };

const WELCOME = 'WELCOME20';

export const USAGE_EVENT = {
  idempotency_key: 'req-8f14e45f',
  customer_id: exampleId('cus'),
  event_name: METER.event_name,
  timestamp: '2026-03-01T09:30:00.000Z',
  properties: { region: 'eu' },
};

const SELLING: readonly Step[] = [
  {
    operationId: 'createTaxRate',
    body: { name: 'TVA', percentage: '20', country: 'FR' },
  },
  { operationId: 'updateTaxRate', body: { is_active: true, metadata: { register: 'FR-2026' } } },
  { operationId: 'createMeter', body: METER },
  { operationId: 'updateMeter', body: { name: 'Calls of the API' } },
  {
    operationId: 'createEntitlement',
    body: {
      key: METER.key,
      name: 'API calls',
      type: 'metered',
      unit: 'calls',
      meter_id: exampleId('meter'),
      thresholds: [80, 100],
    },
  },
  { operationId: 'updateEntitlement', body: { thresholds: [50, 80, 100] } },
  {
    operationId: 'createPlan',
    body: {
      code: 'team-monthly',
      name: 'Team',
      currency: 'EUR',
      interval: 'month',
      prices: [BASE_FEE, { ...CALLS, tiers: TIERS }],
      entitlements: [ALLOWANCE],
    },
  },
  { operationId: 'updatePlan', body: { metadata: { catalogue: '2026' } } },
  {
    operationId: 'createAddon',
    body: {
      code: 'extra-calls',
      name: 'Extra calls',
      currency: 'EUR',
      prices: [
        { name: 'Extra calls', model: 'per_unit', timing: 'in_advance', unit_amount: '500' },
      ],
    },
  },
  { operationId: 'updateAddon', body: { name: 'Extra API calls' } },
  {
    operationId: 'createAddonEntitlement',
    body: { addon_id: exampleId('addon'), entitlement_id: exampleId('ent'), value: '1000' },
  },
  { operationId: 'updateAddonEntitlement', body: { value: '2000' } },
  {
    operationId: 'createCoupon',
    body: {
      code: WELCOME,
      name: 'Welcome',
      type: 'percent',
      percent_off: '20',
      duration: 'repeating',
      duration_in_months: 3,
      max_redemptions: 100,
    },
  },
  { operationId: 'updateCoupon', body: { is_active: true, metadata: { campaign: 'spring' } } },
];

const SUBSCRIBING: readonly Step[] = [
  {
    operationId: 'createWebhookEndpoint',
    body: { url: 'https://example.com/hooks', events: ['invoice.paid', 'refund.*'] },
  },
  { operationId: 'updateWebhookEndpoint', body: { description: 'Accounting, production' } },
  {
    operationId: 'createCustomer',
    body: {
      name: 'Analytical Engines SARL',
      email: 'ada@example.com',
      external_id: 'crm-1042',
      currency: 'EUR',
      timezone: 'Europe/Paris',
      address: {
        line1: '12 Rue de la Paix',
        city: 'Paris',
        postal_code: '75002',
        country: 'FR',
      },
      tax_rate_ids: [exampleId('txr')],
      metadata: { crm_id: 'A-1042' },
    },
  },
  { operationId: 'updateCustomer', body: { email: 'billing@example.com' } },
  {
    operationId: 'createPaymentMethod',
    body: { provider: 'sandbox', token: 'pm_sandbox_ok', is_default: true },
  },
  {
    operationId: 'createPaymentMethodSetup',
    body: { provider: 'stripe', is_default: true },
    isForStripe: true,
  },
  { operationId: 'updatePaymentMethod', body: { is_default: true } },
  {
    operationId: 'createSubscription',
    body: {
      customer_id: exampleId('cus'),
      plan_id: exampleId('plan'),
      addons: [{ addon_id: exampleId('addon'), quantity: '2' }],
      metadata: { crm_id: 'A-1042' },
    },
  },
  { operationId: 'redeemCouponOnSubscription', body: { code: WELCOME } },
  { operationId: 'updateSubscription', body: { metadata: { order: 'PO-7' } } },
];

const USING: readonly Step[] = [
  { operationId: 'reportUsage', body: USAGE_EVENT },
  { operationId: 'voidUsageEvent', body: { idempotency_key: USAGE_EVENT.idempotency_key } },
  {
    operationId: 'createEntitlementGrant',
    body: { value: '500', metadata: { reason: 'Welcome gift' } },
  },
  {
    operationId: 'consumeEntitlement',
    body: { quantity: '1', idempotency_key: 'request-7f3c' },
  },
  {
    operationId: 'simulatePrices',
    body: {
      plan_id: exampleId('plan'),
      prices: [BASE_FEE, { ...CALLS, tiers: NEW_TIERS }],
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-07-01T00:00:00.000Z',
    },
  },
  {
    operationId: 'createPlanVersion',
    body: {
      prices: [BASE_FEE, { ...CALLS, tiers: NEW_TIERS }],
      entitlements: [ALLOWANCE],
    },
  },
  {
    operationId: 'changeSubscription',
    body: { plan_version: 'latest', when: 'now' },
  },
];

const PAYING: readonly Step[] = [
  {
    operationId: 'createInvoice',
    body: {
      customer_id: exampleId('cus'),
      currency: 'EUR',
      lines: [{ description: 'Set-up', amount: 25_000 }],
      collection: 'send_invoice',
      days_until_due: 14,
    },
  },
  { operationId: 'updateInvoice', body: { metadata: { order: 'PO-7' } } },
  { operationId: 'finalizeInvoice' },
  {
    operationId: 'createCreditNote',
    body: {
      invoice_id: exampleId('inv'),
      lines: [{ invoice_line_id: exampleId('il'), amount: 500 }],
      reason: 'Two days without service',
      settle: 'credit',
    },
  },
  {
    operationId: 'payInvoice',
    body: { provider: 'sandbox', payment_method_id: 'pm_sandbox_pending' },
  },
  { operationId: 'settleSandboxPayment', body: { outcome: 'succeeded' } },
  {
    operationId: 'createPayment',
    body: {
      customer_id: exampleId('cus'),
      amount: 10_000,
      currency: 'EUR',
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_refund_pending',
    },
  },
  { operationId: 'createRefund', body: { amount: 2_500, reason: 'Arrived broken' } },
  { operationId: 'settleSandboxRefund', body: { outcome: 'succeeded' } },
  { operationId: 'cancelSubscription', body: { when: 'period_end' } },
];

const RECONCILING: readonly Step[] = [
  {
    operationId: 'createReconciliation',
    body: {
      provider: 'stripe',
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-08T00:00:00.000Z',
    },
    isForStripe: true,
  },
];

const ADMINISTERING: readonly Step[] = [
  {
    operationId: 'retryWebhookDeliveries',
    body: { status: ['failed'], from: '2026-03-01T00:00:00.000Z' },
  },
  {
    operationId: 'replayWebhookEvents',
    body: {
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-02T00:00:00.000Z',
      events: ['refund.*'],
    },
  },
  {
    operationId: 'createStudioAdmin',
    body: {
      email: 'ada@example.com',
      name: 'Ada Byron',
      passwordHash:
        '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1leGFtcGxlMQ$R8pB2ZXruHAl61vV5cDeGAOywi9y2ggJpckbuEcK6kY',
    },
  },
  { operationId: 'updateStudioAdmin', body: { name: 'Ada Lovelace' } },
  {
    operationId: 'updateStudioSettings',
    body: { support_refund_limits: [{ currency: 'EUR', amount: 5_000 }] },
  },
  {
    operationId: 'createSession',
    body: { email: 'ada@example.com', password: 'correct horse battery staple' },
  },
  {
    operationId: 'confirmSecondFactor',
    body: { totp_code: '287082' },
    isForAdmins: true,
  },
  {
    operationId: 'replaceRecoveryCodes',
    body: { totp_code: '969429' },
    isForAdmins: true,
  },
  {
    operationId: 'disableSecondFactor',
    body: { recovery_code: '3k7m-9xq2-w4tz-h8dv' },
    isForAdmins: true,
  },
  {
    operationId: 'createApiKey',
    body: { name: 'Checkout servers', scopes: ['usage:write', 'entitlements:read'] },
  },
  { operationId: 'updateApiKey', body: { expires_at: '2040-01-01T00:00:00.000Z' } },
  {
    operationId: 'createCustomerToken',
    body: { scopes: ['entitlements:read'], expires_in_seconds: 900 },
  },
  { operationId: 'rollApiKey', body: { overlap_seconds: 3_600 } },
  {
    operationId: 'createTestClock',
    body: { name: 'A year of a team', now: '2026-01-31T00:00:00.000Z' },
  },
  { operationId: 'advanceTestClock', body: { to: '2027-01-31T00:00:00.000Z' } },
];

export const STORY: readonly Step[] = [
  ...SELLING,
  ...SUBSCRIBING,
  ...USING,
  ...PAYING,
  ...RECONCILING,
  ...ADMINISTERING,
];
