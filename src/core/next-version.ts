/** Largest version that a column of type `integer` holds. Version 1 follows it: versions are compared for equality. */
export const MAX_VERSION = 2_147_483_647;

/** A stored object with a version. Each change raises the version by one (see {@link MAX_VERSION}). */
export interface Versioned {
  readonly version: number;
  readonly updatedAt: Date;
}

/** Fields that an update may change. Fields that are omitted or undefined stay unchanged. */
export type ChangeOf<Stored, Field extends keyof Stored> = {
  readonly [Changed in Field]?: Stored[Changed] | undefined;
};

/**
 * Returns the instant of a change that follows the last changes of all given objects: `now`, or the latest of those
 * changes if that is later, because the clocks of processes differ. Ignores null. The caller has locked the objects.
 */
export function changedAt(
  now: Date,
  ...objects: readonly (Pick<Versioned, 'updatedAt'> | null)[]
): Date {
  return objects.reduce(
    (latest, object) => (object !== null && object.updatedAt > latest ? object.updatedAt : latest),
    now,
  );
}

/** Returns the version after the next change. */
export function versionAfter(version: number): number {
  return (version % MAX_VERSION) + 1;
}

/** Returns the next version of an object, with the given fields changed. */
export function nextVersion<Stored extends Versioned>(
  before: Stored,
  now: Date,
  change: Partial<Stored> = {},
): Stored {
  const version = versionAfter(before.version);
  return { ...before, ...change, version, updatedAt: changedAt(now, before) };
}
