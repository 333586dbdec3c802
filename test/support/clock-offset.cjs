/**
 * Sets the clock of a process ahead by `CLOCK_OFFSET_MS`, to simulate a machine with a wrong clock.
 * `NODE_OPTIONS=--require` loads this file before everything else.
 */
const offsetMs = Number(process.env.CLOCK_OFFSET_MS);
const RealDate = Date;
const realNow = RealDate.now;

class OffsetDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(realNow() + offsetMs);
    else super(...given);
  }

  static now() {
    return realNow() + offsetMs;
  }
}

globalThis.Date = OffsetDate;
