/** Months that a report of a year covers. */
const MONTHS = 12;

/** Returns the first instant of the month in UTC, eleven months before the present one. */
export function yearAgo(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 - MONTHS, 1)).toISOString();
}
