export { isWithinMetadataLimits, mergeMetadata, METADATA_LIMITS } from './metadata';
export type { Metadata } from './metadata';
