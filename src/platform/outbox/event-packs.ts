/** Place of an event in a pack of the same statement. */
export interface PackPlace {
  /** Number of the pack in the statement. */
  readonly pack: number;
  /** 1 for the first event of the pack. */
  readonly place: number;
}

/** Fewest characters in a pack. PostgreSQL would not compress the row of a shorter one. */
const MIN_PACK_LENGTH = 2_100;
/** Most characters in a pack of several events. A read of one event decompresses its whole pack. */
const MAX_PACK_LENGTH = 16_000;

/**
 * Puts consecutive events into packs.
 * @param lengths characters of the data of each event
 * @returns the place of each event; null for one that is stored alone
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
