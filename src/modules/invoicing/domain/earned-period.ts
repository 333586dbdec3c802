/** A period that is over; one that was cut short earned what was billed for it and not credited. */
export interface EarnedPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly endAt: Date;
  /** Ended at its boundary, cut short by a change of the interval, or with its subscription. */
  readonly end: 'border' | 'change' | 'end';
}
