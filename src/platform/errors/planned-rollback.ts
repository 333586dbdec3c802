/** Thrown and caught to roll a transaction back on purpose. Traces do not count it as a failure. */
export abstract class PlannedRollback extends Error {}
