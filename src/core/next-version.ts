/** A stored object with a version. Each change raises the version by one. */
export interface Versioned {
  readonly version: number;
  readonly updatedAt: Date;
}

/** Fields that an update may change. Fields that are omitted or undefined stay unchanged. */
export type ChangeOf<Stored, Field extends keyof Stored> = {
  readonly [Changed in Field]?: Stored[Changed] | undefined;
};

/**
 * Returns the instant of a change: `now`, or the instant of the last change if that is later, because the clocks of
 * processes differ.
 */
export function changedAt({ updatedAt }: Pick<Versioned, 'updatedAt'>, now: Date): Date {
  return now < updatedAt ? updatedAt : now;
}

/** Returns the next version of an object, with the given fields changed. */
export function nextVersion<Stored extends Versioned>(
  before: Stored,
  now: Date,
  change: Partial<Stored> = {},
): Stored {
  return { ...before, ...change, version: before.version + 1, updatedAt: changedAt(before, now) };
}
