import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, Matches, ValidateNested } from 'class-validator';
import { IsCurrency, IsText, MetadataField } from '../../../platform/http';
import type { AddonTerms } from '../domain/addon';
import { PriceInputDto, toPriceTerms } from './price-input.dto';

export const LONGEST_NAME = 200;

const MOST_PRICES = 20;

export class CreateAddonDto {
  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, - or _' })
  @ApiProperty({
    description: 'Your code for the add-on, 1 to 64 letters, digits, - or _; unique forever.',
    example: 'extra-seats',
  })
  readonly code!: string;

  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For display only.',
    example: 'Extra seats',
  })
  readonly name!: string;

  @IsCurrency()
  @ApiProperty({ description: 'ISO 4217; the currency of all prices.', example: 'EUR' })
  readonly currency!: string;

  @IsArray()
  @ArrayMaxSize(MOST_PRICES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PriceInputDto)
  @ApiProperty({
    type: [PriceInputDto],
    maxItems: MOST_PRICES,
    description: 'Prices; empty for a free add-on.',
  })
  readonly prices!: readonly PriceInputDto[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
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
