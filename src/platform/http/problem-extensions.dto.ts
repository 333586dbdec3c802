import { IntegerProperty, TextProperty } from './properties';

/** Additional members of a problem, depending on its code (RFC 9457, section 3.2). */
export class ProblemExtensionsDto {
  @IntegerProperty('Amount that can still be credited on the line, in minor units.', 2000, {
    optional: true,
  })
  readonly creditable_amount?: number;
  @IntegerProperty('Amount that can still be credited on the invoice, in minor units.', 5950, {
    optional: true,
  })
  readonly creditable_total?: number;
  @TextProperty('The currency in which the customer is billed.', 'USD', { optional: true })
  readonly customer_currency?: string;
  @TextProperty('The present state of the resource.', 'void', { optional: true })
  readonly from?: string;
  @TextProperty('The status of the invoice.', 'paid', { optional: true })
  readonly invoice_status?: string;
  @IntegerProperty('The highest number allowed.', 100, { optional: true })
  readonly limit?: number;
  @TextProperty('The present time of the test clock.', '2026-03-01T09:30:00.000Z', {
    optional: true,
  })
  readonly now?: string;
  @IntegerProperty('Amount that can still be paid, in minor units.', 5950, { optional: true })
  readonly payable_amount?: number;
  @TextProperty('The status of the payment.', 'processing', { optional: true })
  readonly payment_status?: string;
  @TextProperty('The payment provider.', 'sandbox', { optional: true })
  readonly provider?: string;
  @TextProperty('Why the value was refused.', 'timestamp_too_old', { optional: true })
  readonly reason?: string;
  @TextProperty('The status that was recorded.', 'failed', { optional: true })
  readonly recorded_status?: string;
  @IntegerProperty('Amount that can still be refunded, in minor units.', 6000, { optional: true })
  readonly refundable_amount?: number;
  @TextProperty('The reconciliation in progress.', 'rcon_01h455vb4pex5vsknk084sn02q', {
    optional: true,
  })
  readonly reconciliation_id?: string;
  @IntegerProperty('Part of the credit note to be refunded, in minor units.', 595, {
    optional: true,
  })
  readonly credit_note_amount?: number;
  @TextProperty('The invoice that replaces this one.', 'inv_01h455vb4pex5vsknk084sn02q', {
    optional: true,
  })
  readonly reissued_as?: string;
  @TextProperty('The replay in progress.', 'whr_01h455vb4pex5vsknk084sn02q', { optional: true })
  readonly replay_id?: string;
  @TextProperty('The status that the provider reported.', 'succeeded', { optional: true })
  readonly reported_status?: string;
  @TextProperty(
    'What the first request creates, or the test clock that it advances; null until committed.',
    'pay_01h455vb4pex5vsknk084sn02q',
    { nullable: true, optional: true },
  )
  readonly resource_id?: string | null;
  @TextProperty('The scope that the credential lacks.', 'refunds:write', { optional: true })
  readonly required_scope?: string;
  @TextProperty('The status of the subscription.', 'canceled', { optional: true })
  readonly subscription_status?: string;
  @TextProperty('The state that was asked for.', 'void', { optional: true })
  readonly to?: string;
}
