import { CountryField, TextField, TextProperty, mapperTo } from '../../../platform/http';
import type { Address } from '../domain/customer';

const MAX_LINE_LENGTH = 500;
const MAX_POSTAL_CODE_LENGTH = 40;

/** An address in a request. Each part is optional. An update replaces the whole address. */
export class AddressInputDto {
  @TextField('Street and number.', {
    max: MAX_LINE_LENGTH,
    nullable: true,
    example: '12 Rue de la Paix',
  })
  readonly line1?: string | null;
  @TextField('Building, floor, department.', {
    max: MAX_LINE_LENGTH,
    nullable: true,
    example: '3rd floor',
  })
  readonly line2?: string | null;
  @TextField('Town.', { max: MAX_LINE_LENGTH, nullable: true, example: 'Paris' })
  readonly city?: string | null;
  @TextField('State, province or county.', {
    max: MAX_LINE_LENGTH,
    nullable: true,
    example: 'Île-de-France',
  })
  readonly state?: string | null;
  @TextField('Postal code.', { max: MAX_POSTAL_CODE_LENGTH, nullable: true, example: '75002' })
  readonly postal_code?: string | null;
  @CountryField('ISO 3166-1 alpha-2, in upper case.', { nullable: true, example: 'FR' })
  readonly country?: string | null;
}

export class AddressDto {
  @TextProperty('Street and number.', '12 Rue de la Paix', { nullable: true })
  readonly line1!: string | null;
  @TextProperty('Building, floor, department.', '3rd floor', { nullable: true })
  readonly line2!: string | null;
  @TextProperty('Town.', 'Paris', { nullable: true }) readonly city!: string | null;
  @TextProperty('State, province or county.', 'Île-de-France', { nullable: true })
  readonly state!: string | null;
  @TextProperty('Postal code.', '75002', { nullable: true }) readonly postal_code!: string | null;
  @TextProperty('ISO 3166-1 alpha-2.', 'FR', { nullable: true }) readonly country!: string | null;
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

export const toAddressDto = mapperTo(AddressDto);
