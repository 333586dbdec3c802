/** Longest pause between two attempts at due work, such as the polls of a payment, in milliseconds. */
export const LONGEST_PAUSE_MS = 3_600_000;
