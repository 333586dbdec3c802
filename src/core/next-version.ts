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

/** Returns `now`, but never a time before the previous change: another process with a faster clock may have made it. */
export function changedAt({ updatedAt }: Pick<Versioned, 'updatedAt'>, now: Date): Date {
  return now < updatedAt ? updatedAt : now;
}

/** Returns the version after the next change. */
export function versionAfter(version: number): number {
  return (version % MAX_VERSION) + 1;
}

export function nextVersion<Stored extends Versioned>(
  before: Stored,
  now: Date,
  change: Partial<Stored> = {},
): Stored {
  const version = versionAfter(before.version);
  return { ...before, ...change, version, updatedAt: changedAt(before, now) };
}
