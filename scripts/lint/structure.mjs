/**
 * Limits on the structure of `src`, and the places that exceed them today. `npm run structure` fails on a place that is not
 * listed, on a listed place that got worse, and on one that no longer exceeds its limit: the lists only get shorter.
 */

/** Lines of a file, blank lines and comments included. */
export const MOST_LINES = 350;

/** Parameters of a constructor. */
export const MOST_DEPENDENCIES = 8;

/** @type {Readonly<Record<string, number>>} */
export const LONG_FILES = {
  'src/modules/subscriptions/domain/decide.ts': 371,
  'src/platform/database/database.ts': 359,
};

/** @type {Readonly<Record<string, number>>} */
export const LARGE_CONSTRUCTORS = {
  BalancesService: 10,
  DeliveryWorker: 9,
  IssueInvoiceService: 11,
  RefundsService: 9,
  ReplaysService: 9,
  VoidUsage: 10,
  WebhookEndpointsService: 10,
};

/**
 * Names that more than one type has.
 * @type {readonly string[]}
 */
export const SHARED_NAMES = [
  'Asked',
  'AuditEntry',
  'BilledLine',
  'BilledPeriod',
  'CouponTerms',
  'CreditNote',
  'InvoiceLine',
  'MeterTerms',
  'NewIds',
  'Page',
  'RefundRequest',
  'Setup',
  'StreamRow',
  'TaxRate',
  'TaxRateTerms',
  'UsageReading',
];
