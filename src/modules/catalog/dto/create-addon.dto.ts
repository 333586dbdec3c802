import {
  CurrencyField,
  MetadataField,
  NestedListField,
  PatternField,
  TextField,
} from '../../../platform/http';
import type { AddonTerms } from '../domain/addon';
import { PriceInputDto, toPriceTerms } from './price-input.dto';

export const MAX_NAME_LENGTH = 200;

const MAX_PRICES = 20;

export class CreateAddonDto {
  @PatternField(
    /^[A-Za-z0-9_-]{1,64}$/,
    'must be 1 to 64 letters, digits, - or _',
    'Your code for the add-on, 1 to 64 letters, digits, - or _; unique forever.',
    { example: 'extra-seats' },
  )
  readonly code!: string;
  @TextField('For display only.', { max: MAX_NAME_LENGTH, example: 'Extra seats' })
  readonly name!: string;
  @CurrencyField('ISO 4217; the currency of all prices.', { example: 'EUR' })
  readonly currency!: string;
  @NestedListField(PriceInputDto, 'Prices; empty for a free add-on.', { max: MAX_PRICES })
  readonly prices!: readonly PriceInputDto[];
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toAddonTerms(dto: CreateAddonDto): AddonTerms {
  return {
    code: dto.code,
    name: dto.name,
    currency: dto.currency,
    prices: dto.prices.map(toPriceTerms),
    metadata: dto.metadata ?? {},
  };
}
