import {
  BooleanField,
  CountryField,
  MetadataField,
  PatternField,
  TextField,
} from '../../../platform/http';
import type { TaxRateTerms } from '../domain/tax-rate';

const MAX_NAME_LENGTH = 200;

export class CreateTaxRateDto {
  @TextField('Name shown on invoices.', { max: MAX_NAME_LENGTH, example: 'VAT' })
  readonly name!: string;
  @PatternField(
    /^(100(\.0{1,4})?|(0|[1-9]\d?)(\.\d{1,4})?)$/,
    'must be a decimal string from 0 to 100, with at most 4 decimals',
    'Percent, as a decimal string. Immutable: for another percentage create another rate.',
    { example: '20' },
  )
  readonly percentage!: string;
  @BooleanField('If true, amounts include this tax; otherwise it is added to them.', {
    optional: true,
    default: false,
    example: false,
  })
  readonly inclusive?: boolean;
  @CountryField('ISO 3166-1 alpha-2 code; for display only.', { nullable: true, example: 'FR' })
  readonly country?: string | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toTaxRateTerms(dto: CreateTaxRateDto): TaxRateTerms {
  return {
    name: dto.name,
    percentage: dto.percentage,
    inclusive: dto.inclusive ?? false,
    country: dto.country ?? null,
    metadata: dto.metadata ?? {},
  };
}
