import { isDeepStrictEqual } from 'node:util';
import { isWithinMetadataLimits, mergeMetadata, type Metadata } from '../../core/metadata';
import { type ChangeOf, nextVersion, type Versioned } from '../../core/next-version';
import { metadataTooLarge, preconditionFailed } from '../errors';

/** Row versions that a change accepts: any version, or the listed ones. */
export type VersionCondition = 'any' | readonly number[];

/** @throws {ProblemError} `precondition_failed` if the row has none of the accepted versions */
export function assertVersion(
  condition: VersionCondition,
  row: { readonly version: number },
): void {
  if (condition !== 'any' && !condition.includes(row.version)) throw preconditionFailed();
}

/**
 * Returns the next version of a resource, or `before` itself if the change has no effect. If the resource has
 * `metadata`, merges the `metadata` of the change into it.
 * @throws {ProblemError} `metadata_too_large`
 */
export function revise<Resource extends Versioned & { readonly metadata?: Metadata }>(
  before: Resource,
  change: ChangeOf<Resource, keyof Resource>,
  now: Date,
): Resource {
  const given = Object.fromEntries(
    Object.entries<unknown>(change).filter(([, value]) => value !== undefined),
  );
  const metadata = mergeMetadata(before.metadata ?? {}, change.metadata);
  if (!isWithinMetadataLimits(metadata)) throw metadataTooLarge();
  const merged = before.metadata === undefined ? {} : { metadata };
  const after: Resource = { ...before, ...given, ...merged };
  if (isDeepStrictEqual(after, { ...before })) return before;
  return nextVersion(after, now);
}
