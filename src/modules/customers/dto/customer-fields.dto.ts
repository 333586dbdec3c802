import {
  EmailField,
  EnumField,
  IdListField,
  IntegerField,
  MetadataField,
  NestedField,
  TextField,
  TimeZoneField,
} from '../../../platform/http';
import { MAX_INVOICE_GRACE_HOURS, TAX_EXEMPTIONS, type TaxExemption } from '../domain/customer';
import { AddressInputDto } from './address.dto';

export const MAX_NAME_LENGTH = 200;
export const MAX_EMAIL_LENGTH = 320;
export const MAX_EXTERNAL_ID_LENGTH = 255;
const MAX_TAX_RATES = 5;

export const DEFAULT_TIMEZONE = 'UTC';

export class CustomerFieldsDto {
  @EmailField('Contact e-mail address.', {
    max: MAX_EMAIL_LENGTH,
    nullable: true,
    example: 'ada@example.com',
  })
  readonly email?: string | null;
  @TextField('Id in your system; unique among customers that are not deleted.', {
    max: MAX_EXTERNAL_ID_LENGTH,
    nullable: true,
    example: 'crm-1042',
  })
  readonly external_id?: string | null;
  @TimeZoneField(
    `IANA time zone in which billing periods are computed. Default: ${DEFAULT_TIMEZONE}.`,
    { optional: true, example: 'Europe/Paris' },
  )
  readonly timezone?: string;
  @NestedField(AddressInputDto, 'Postal address. An update replaces the whole address.', {
    nullable: true,
  })
  readonly address?: AddressInputDto | null;
  @EnumField(
    TAX_EXEMPTIONS,
    '`none` (taxed, the default), `exempt`, or `reverse` (reverse charge). Tax is 0 for the latter two.',
    { optional: true, example: 'none' },
  )
  readonly tax_exempt?: TaxExemption;
  @IdListField(
    'txr',
    'Ids of active tax rates. An update replaces the whole list; inactive rates that the customer has may stay.',
    { max: MAX_TAX_RATES, optional: true, example: [] },
  )
  readonly tax_rate_ids?: readonly string[];
  @IntegerField(
    'Hours that a renewal invoice stays a draft after the end of its period, to include late usage; ' +
      'null: the default (`INVOICE_GRACE_HOURS`). Applies to later renewals.',
    { min: 0, max: MAX_INVOICE_GRACE_HOURS, nullable: true, example: 72 },
  )
  readonly invoice_grace_hours?: number | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}
