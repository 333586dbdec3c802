import { TypeID, typeid } from 'typeid-js';

/** The prefix of each resource's id: the reader of a log line knows what it names. */
export type IdPrefix =
  | 'addon'
  | 'admin'
  | 'aent'
  | 'cent'
  | 'clock'
  | 'cn'
  | 'coup'
  | 'crd'
  | 'cus'
  | 'ent'
  | 'evt'
  | 'grant'
  | 'il'
  | 'inv'
  | 'ltx'
  | 'meter'
  | 'pay'
  | 'plan'
  | 'planv'
  | 'pm'
  | 'price'
  | 'red'
  | 'ref'
  | 'sch'
  | 'si'
  | 'sp'
  | 'sub'
  | 'txr'
  | 'ub'
  | 'uev'
  | 'whd'
  | 'whe'
  | 'whs';

const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * A new TypeID: `<prefix>_` and 26 characters of Crockford base 32 that hold a UUIDv7. Ids made by one process sort in
 * the order they were made; lists page by them.
 */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** The id that stands for 16 bytes which are unique already, such as a digest. */
export function idOfBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** Whether the text has the shape of an id with this prefix. Says nothing about whether such a row exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}
