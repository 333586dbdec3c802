/** The only source of time. A use case reads the clock once, so that all rows it writes have the same instant. */
export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}
