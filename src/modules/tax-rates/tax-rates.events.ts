import { defineEvent } from '../../platform/outbox';
import { TaxRateDto, toTaxRateDto } from './dto/tax-rate.dto';

export const taxRateCreated = defineEvent({
  type: 'tax_rate.created',
  meaning: 'A tax rate was created.',
  dto: TaxRateDto,
  toDto: toTaxRateDto,
});

export const taxRateUpdated = defineEvent({
  type: 'tax_rate.updated',
  meaning: 'A tax rate was activated or deactivated, or its metadata changed.',
  dto: TaxRateDto,
  toDto: toTaxRateDto,
});

export const taxRateArchived = defineEvent({
  type: 'tax_rate.archived',
  meaning: 'A tax rate was archived. The event contains its last state.',
  dto: TaxRateDto,
  toDto: toTaxRateDto,
});
