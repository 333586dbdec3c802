/** Longest pause before background work is tried again, such as the next poll of a payment, in milliseconds. */
export const LONGEST_PAUSE_MS = 3_600_000;
