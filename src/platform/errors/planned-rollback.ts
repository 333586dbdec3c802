/**
 * Thrown to roll a transaction back as planned, and caught by the caller. Traces do not count this error as a failure.
 */
export abstract class PlannedRollback extends Error {}
