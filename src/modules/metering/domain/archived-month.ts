/** A month of the events of one name of one customer that are archived. */
export interface ArchivedMonth {
  readonly customerId: string;
  readonly eventName: string;
  /** Start of the month, in UTC. */
  readonly startAt: Date;
  readonly endAt: Date;
  /** Number of events, with voided ones. */
  readonly events: number;
  readonly voided: number;
  /** As in the proof of the month. */
  readonly digest: string;
  /** Names of the files with the events. */
  readonly files: readonly string[];
}
