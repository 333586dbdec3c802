import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsCountry, IsText, Nullable } from '../../../platform/http';
import type { Address } from '../domain/customer';

const LONGEST_LINE = 500;
const LONGEST_POSTAL_CODE = 40;

/** An address in a request. Each part is optional. An update replaces the whole address. */
export class AddressInputDto {
  @Nullable()
  @IsText(1, LONGEST_LINE)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_LINE,
    nullable: true,
    description: 'Street and number.',
    example: '12 Rue de la Paix',
  })
  readonly line1?: string | null;

  @Nullable()
  @IsText(1, LONGEST_LINE)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_LINE,
    nullable: true,
    description: 'Building, floor, department.',
    example: '3rd floor',
  })
  readonly line2?: string | null;

  @Nullable()
  @IsText(1, LONGEST_LINE)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_LINE,
    nullable: true,
    description: 'Town.',
    example: 'Paris',
  })
  readonly city?: string | null;

  @Nullable()
  @IsText(1, LONGEST_LINE)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_LINE,
    nullable: true,
    description: 'State, province or county.',
    example: 'Île-de-France',
  })
  readonly state?: string | null;

  @Nullable()
  @IsText(1, LONGEST_POSTAL_CODE)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_POSTAL_CODE,
    nullable: true,
    description: 'Postal code.',
    example: '75002',
  })
  readonly postal_code?: string | null;

  @Nullable()
  @IsCountry()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'ISO 3166-1 alpha-2, in upper case.',
    example: 'FR',
  })
  readonly country?: string | null;
}

/** An address in a response. */
export class AddressDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Street and number.',
    example: '12 Rue de la Paix',
  })
  readonly line1!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Building, floor, department.',
    example: '3rd floor',
  })
  readonly line2!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Town.', example: 'Paris' })
  readonly city!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'State, province or county.',
    example: 'Île-de-France',
  })
  readonly state!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Postal code.', example: '75002' })
  readonly postal_code!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'ISO 3166-1 alpha-2.',
    example: 'FR',
  })
  readonly country!: string | null;
}

export function toAddress(dto: AddressInputDto): Address {
  return {
    line1: dto.line1 ?? null,
    line2: dto.line2 ?? null,
    city: dto.city ?? null,
    state: dto.state ?? null,
    postalCode: dto.postal_code ?? null,
    country: dto.country ?? null,
  };
}

export function toAddressDto(address: Address): AddressDto {
  return {
    line1: address.line1,
    line2: address.line2,
    city: address.city,
    state: address.state,
    postal_code: address.postalCode,
    country: address.country,
  };
}
