/** Length of the start of an id: a prefix of three letters, an underscore, and the creation time in units of 32 ms. */
const LENGTH = 13;

/**
 * Returns SQL for the start of an id, which encodes the creation time in units of 32 ms. Indexes of large tables end
 * with this text instead of the id, because rows created within 32 ms then share one text and one index entry. Sorting
 * by this text and then by id gives the order of ids.
 * @param id SQL of an id with a prefix of three letters
 */
export function idTime(id: string): string {
  return `left(${id}, ${LENGTH})`;
}
