/** Months that a report of a year covers. */
const MONTHS = 12;

/** Returns the start of the month, in UTC, eleven months before the present month. */
export function yearAgo(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 - MONTHS, 1)).toISOString();
}
