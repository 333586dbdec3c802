/** A stored object with a version. Each change raises the version by one. */
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

export function nextVersion<Stored extends Versioned>(
  before: Stored,
  now: Date,
  change: Partial<Stored> = {},
): Stored {
  return { ...before, ...change, version: before.version + 1, updatedAt: changedAt(before, now) };
}
