/** Characters of an id up to the end of its creation time, to 32 ms, after a prefix of three letters. */
const LENGTH = 13;

/**
 * Returns SQL of the creation time in an id. Indexes of large tables end with it instead of the id, because rows created together
 * then share an index entry. Sorting by it and then by id gives the order of ids.
 * @param id SQL of an id with a prefix of three letters
 */
export function idTime(id: string): string {
  return `left(${id}, ${LENGTH})`;
}
