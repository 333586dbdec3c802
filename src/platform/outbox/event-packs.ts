/**
 * Place of an event among the packs that one INSERT statement stores. A pack is one row with the data of several
 * events.
 */
export interface PackPlace {
  /** Index of the pack among the packs of the statement. */
  readonly pack: number;
  /** Position of the event in its pack, from 1. */
  readonly place: number;
}

/** Minimum number of characters in a pack of events, because PostgreSQL would not compress a shorter row. */
const MIN_PACK_LENGTH = 2_100;
/** Maximum number of characters in a pack of events, because a read of one event decompresses its whole pack. */
const MAX_PACK_LENGTH = 16_000;

/**
 * Groups consecutive events into packs, each of which is one row of `event_pack`.
 * @param lengths number of characters of the data of each event
 * @returns the place of each event; null for an event that is stored alone
 */
export function packPlaces(lengths: readonly number[]): readonly (PackPlace | null)[] {
  return packsOf(lengths).flatMap((pack, number) => {
    const isPacked = pack.length > 1 && sumOf(pack) >= MIN_PACK_LENGTH;
    return pack.map((_, index) => (isPacked ? { pack: number, place: index + 1 } : null));
  });
}

function packsOf(lengths: readonly number[]): readonly (readonly number[])[] {
  const packs: number[][] = [];
  for (const length of lengths) {
    const last = packs.at(-1);
    if (last === undefined || sumOf(last) + length > MAX_PACK_LENGTH) packs.push([length]);
    else last.push(length);
  }
  return packs;
}

function sumOf(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}
