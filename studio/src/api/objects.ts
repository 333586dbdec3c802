import type { Schemas } from './client';

/** Types of API objects, under the names that the console uses. */
export type Account = Schemas['LedgerAccountDto'];
export type Cancellation = Schemas['CancelSubscriptionDto'];
export type Change = Schemas['ChangeSubscriptionDto'];
export type Clock = Schemas['TestClockDto'];
export type CreditNote = Schemas['CreditNoteDto'];
export type CurrentSession = Schemas['CurrentSessionDto'];
export type Customer = Schemas['CustomerDto'];
export type CustomerLine = Schemas['SimulationCustomerLineDto'];
export type Delivery = Schemas['WebhookDeliveryDto'];
export type Invoice = Schemas['InvoiceWithCustomerDto'];
export type Payment = Schemas['PaymentWithCustomerDto'];
export type Price = Schemas['PriceDto'];
export type Redemption = Schemas['CouponRedemptionDto'];
export type Refund = Schemas['RefundDto'];
export type Subscription = Schemas['SubscriptionWithCustomerAndPlanDto'];
export type Transaction = Schemas['LedgerTransactionWithCustomerDto'];
