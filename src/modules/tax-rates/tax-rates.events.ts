import { defineEvents } from '../../platform/outbox';
import { TaxRateDto, toTaxRateDto } from './dto/tax-rate.dto';

const taxRateEvent = defineEvents(TaxRateDto, toTaxRateDto);

export const taxRateCreated = taxRateEvent('tax_rate.created', 'A tax rate was created.');

export const taxRateUpdated = taxRateEvent(
  'tax_rate.updated',
  'A tax rate was activated or deactivated, or its metadata changed.',
);

export const taxRateArchived = taxRateEvent(
  'tax_rate.archived',
  'A tax rate was archived. The event contains its last state.',
);
