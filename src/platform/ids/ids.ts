import { TypeID } from 'typeid-js';
import { UuidSequence } from './uuid-sequence';

export type IdPrefix =
  | 'addon'
  | 'admin'
  | 'aent'
  | 'aud'
  | 'cent'
  | 'clock'
  | 'cn'
  | 'coup'
  | 'crd'
  | 'ctok'
  | 'cus'
  | 'dscr'
  | 'dsp'
  | 'ent'
  | 'evt'
  | 'grant'
  | 'il'
  | 'inv'
  | 'key'
  | 'ltx'
  | 'meter'
  | 'mrrc'
  | 'pay'
  | 'plan'
  | 'planv'
  | 'pm'
  | 'pms'
  | 'price'
  | 'rcdf'
  | 'rcon'
  | 'red'
  | 'ref'
  | 'sch'
  | 'sess'
  | 'sf'
  | 'si'
  | 'sp'
  | 'sub'
  | 'txr'
  | 'ub'
  | 'uev'
  | 'whd'
  | 'whe'
  | 'whr'
  | 'whs';

const SUFFIX_PATTERN = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const SUFFIX = new RegExp(`^${SUFFIX_PATTERN}$`);

const uuids = new UuidSequence();

/**
 * Returns a new TypeID: `<prefix>_` and 26 characters of Crockford base 32 that encode a UUIDv7. Ids from one process
 * sort in the order of their creation. The exception is a clock that was set back by more than 5 s.
 */
export function newId(prefix: IdPrefix): string {
  return TypeID.fromUUID(prefix, uuids.next(Date.now())).toString();
}

/** Returns the id that encodes the given 16 bytes. The bytes must be unique already, as the bytes of a digest are. */
export function idOfBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** Returns the smallest id that can be made at an instant. */
export function firstIdAt(prefix: IdPrefix, instant: Date): string {
  const bytes = new Uint8Array(16);
  // UUIDv7 begins with the milliseconds since 1970, in 48 bits.
  const ms = Buffer.alloc(8);
  ms.writeBigUInt64BE(BigInt(Math.max(0, instant.getTime())));
  bytes.set(ms.subarray(2));
  return idOfBytes(prefix, bytes);
}

/**
 * Returns true if the object of `id` was created before the object of `other`. The objects can be of different kinds.
 * Compares the real times at which processes made the ids, not times of a test clock.
 */
export function wasCreatedBefore(id: string, other: string): boolean {
  const [suffix, otherSuffix] = [id, other].map((text) => text.slice(text.indexOf('_') + 1));
  return (suffix ?? '') < (otherSuffix ?? '');
}

/** Returns the regular expression of the ids that {@link isId} accepts, as text. */
export const idPattern = (prefix: IdPrefix): string => `^${prefix}_${SUFFIX_PATTERN}$`;

/** Returns true if the text has the form of an id with this prefix. Does not check that such an object exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}
