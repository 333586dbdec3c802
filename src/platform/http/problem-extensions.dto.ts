import { ApiPropertyOptional } from '@nestjs/swagger';

/** Members that a problem has beside those of every problem, as its code needs them (RFC 9457, section 3.2). */
export class ProblemExtensionsDto {
  @ApiPropertyOptional({
    type: 'integer',
    description: 'What may still be credited of the line, in minor units.',
    example: 2000,
  })
  readonly creditable_amount?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'What may still be credited of the invoice, in minor units.',
    example: 5950,
  })
  readonly creditable_total?: number;

  @ApiPropertyOptional({
    description: 'The currency in which the customer is billed.',
    example: 'USD',
  })
  readonly customer_currency?: string;

  @ApiPropertyOptional({ description: 'The present state of the resource.', example: 'void' })
  readonly from?: string;

  @ApiPropertyOptional({ description: 'The status of the invoice.', example: 'paid' })
  readonly invoice_status?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'The highest number allowed.',
    example: 100,
  })
  readonly limit?: number;

  @ApiPropertyOptional({
    description: 'The present time of the test clock.',
    example: '2026-03-01T09:30:00.000Z',
  })
  readonly now?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'What may still be paid, in minor units.',
    example: 5950,
  })
  readonly payable_amount?: number;

  @ApiPropertyOptional({ description: 'The status of the payment.', example: 'processing' })
  readonly payment_status?: string;

  @ApiPropertyOptional({ description: 'The payment provider.', example: 'sandbox' })
  readonly provider?: string;

  @ApiPropertyOptional({ description: 'Why the value was refused.', example: 'timestamp_too_old' })
  readonly reason?: string;

  @ApiPropertyOptional({ description: 'The status that was recorded.', example: 'failed' })
  readonly recorded_status?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'What may still be refunded, in minor units.',
    example: 6000,
  })
  readonly refundable_amount?: number;

  @ApiPropertyOptional({
    description: 'The invoice that bills this one again.',
    example: 'inv_01h455vb4pex5vsknk084sn02q',
  })
  readonly reissued_as?: string;

  @ApiPropertyOptional({
    description: 'The replay in progress.',
    example: 'whr_01h455vb4pex5vsknk084sn02q',
  })
  readonly replay_id?: string;

  @ApiPropertyOptional({
    description: 'The status that the provider reported.',
    example: 'succeeded',
  })
  readonly reported_status?: string;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    description: 'The payment or refund that the first request makes; null until it is committed.',
    example: 'pay_01h455vb4pex5vsknk084sn02q',
  })
  readonly resource_id?: string | null;

  @ApiPropertyOptional({
    description: 'The scope that the credential lacks.',
    example: 'refunds:write',
  })
  readonly required_scope?: string;

  @ApiPropertyOptional({ description: 'The status of the subscription.', example: 'canceled' })
  readonly subscription_status?: string;

  @ApiPropertyOptional({ description: 'The state that was asked for.', example: 'void' })
  readonly to?: string;
}
