/** A period that is over; one that was cut short earned what was billed for it and not credited. */
export interface EarnedPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly endAt: Date;
  /** At its border, cut short by a change of the interval, or with its subscription, after which nothing comes. */
  readonly end: 'border' | 'change' | 'end';
}
