/**
 * Largest version that fits an `integer` column. The version after it is 1, because versions are only tested for
 * equality.
 */
export const MAX_VERSION = 2_147_483_647;

/** A stored object with a version. Each change raises the version by one; {@link MAX_VERSION} is followed by 1. */
export interface Versioned {
  readonly version: number;
  readonly updatedAt: Date;
}

/** Fields that an update may change. Fields that are omitted or undefined stay unchanged. */
export type ChangeOf<Stored, Field extends keyof Stored> = {
  readonly [Changed in Field]?: Stored[Changed] | undefined;
};

type Changed = Pick<Versioned, 'updatedAt'>;

/**
 * Milliseconds that a change may be dated ahead of the clock of this process. Only a wrong clock writes a later date.
 */
export const MAX_AHEAD_MS = 60_000;

/** Returns true if `date` is more than a minute after `limit`. Only a wrong clock writes such a date. */
export function isMisdated(date: Date, limit: Date): boolean {
  return date.getTime() > limit.getTime() + MAX_AHEAD_MS;
}

/**
 * Returns the time to record for a new change: `now`, or the latest `updatedAt` of the given objects if that is later.
 * An `updatedAt` can be later, because the clocks of processes differ. Ignores null, and times more than a minute after
 * `now`, because a wrong clock wrote such times. The caller must have locked the objects.
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

/** Returns the next `updatedAt` of an object: `now`, or the present `updatedAt` if that is later. */
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
