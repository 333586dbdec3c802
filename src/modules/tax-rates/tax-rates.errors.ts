import { defineNotFound } from '../../platform/errors';

export const taxRateNotFound = defineNotFound(
  'tax_rate_not_found',
  'a tax rate',
  'the tax rate was archived',
);
