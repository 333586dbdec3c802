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

type Changed = Pick<Versioned, 'updatedAt'>;

/** Changes that are dated more than this after the time of the process were made by a wrong clock. */
export const MAX_AHEAD_MS = 60_000;

/** Returns true if `date` is more than a minute after `limit`, which no date of a right clock exceeds. */
export function isMisdated(date: Date, limit: Date): boolean {
  return date.getTime() > limit.getTime() + MAX_AHEAD_MS;
}

/**
 * Returns the time to record for a new change: `now`, or the latest time of change of the given objects if that is
 * later, which happens because the clocks of processes differ. Ignores null. Ignores times more than a minute after
 * `now`, because a wrong clock wrote them. The caller has locked the objects.
 */
export function changedAt(now: Date, ...objects: readonly (Changed | null)[]): Date {
  return objects.reduce(
    (latest, object) =>
      object === null || isMisdated(object.updatedAt, now)
        ? latest
        : updatedAtAfter(object, latest),
    now,
  );
}

/** Returns the next `updatedAt` of an object: `now`, or the present one if that is later, because it never goes back. */
export function updatedAtAfter({ updatedAt }: Changed, now: Date): Date {
  return updatedAt > now ? updatedAt : now;
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
  return { ...before, ...change, version, updatedAt: updatedAtAfter(before, now) };
}
