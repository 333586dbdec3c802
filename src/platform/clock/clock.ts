/**
 * The only source of time. Rules receive an instant as an argument; whoever starts a use case asks the clock once and
 * hands the answer down, so that every row of one use case carries the same instant.
 */
export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}
