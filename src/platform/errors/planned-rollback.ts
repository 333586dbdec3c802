/** Thrown to roll a transaction back as planned, and caught by its caller. Traces do not count it as a failure. */
export abstract class PlannedRollback extends Error {}
