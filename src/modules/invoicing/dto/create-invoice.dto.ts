import {
  CurrencyField,
  EnumField,
  IdField,
  IntegerField,
  MetadataField,
  NestedListField,
  TextField,
} from '../../../platform/http';
import { COLLECTIONS, type Collection } from '../domain/invoice';
import type { OneOffRequest } from '../domain/one-off';

const LONGEST_DESCRIPTION = 500;
const MAX_LINES = 100;
/** Largest amount of a line, in minor units. A thousand such lines still add up to an exact JSON number. */
const LARGEST_AMOUNT = 1_000_000_000_000;
const MAX_DAYS = 365;

export class OneOffLineDto {
  @TextField('Description of the line.', { max: LONGEST_DESCRIPTION, example: 'Setting up' })
  readonly description!: string;
  @IntegerField('Minor units before tax; negative for a credit.', {
    min: -LARGEST_AMOUNT,
    max: LARGEST_AMOUNT,
    example: 25000,
  })
  readonly amount!: number;
}

export class CreateInvoiceDto {
  @IdField('cus', 'Customer who owes the invoice.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @CurrencyField('ISO 4217. Default: the currency of the customer.', {
    nullable: true,
    example: 'EUR',
  })
  readonly currency?: string | null;
  @NestedListField(OneOffLineDto, 'Lines of the invoice.', { min: 1, max: MAX_LINES })
  readonly lines!: readonly OneOffLineDto[];
  @EnumField(COLLECTIONS, 'Charged automatically, or sent to the customer to pay.', {
    optional: true,
    default: 'automatic',
    example: 'send_invoice',
  })
  readonly collection?: Collection;
  @IntegerField('Days from finalization to the due date.', {
    min: 0,
    max: MAX_DAYS,
    optional: true,
    default: 0,
    example: 14,
  })
  readonly days_until_due?: number;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toOneOffRequest(dto: CreateInvoiceDto): OneOffRequest {
  return {
    customerId: dto.customer_id,
    currency: dto.currency ?? null,
    lines: dto.lines.map(({ description, amount }) => ({
      kind: 'fixed',
      description,
      amountMinor: BigInt(amount),
    })),
    collection: dto.collection ?? 'automatic',
    daysUntilDue: dto.days_until_due ?? 0,
    metadata: dto.metadata ?? {},
  };
}
