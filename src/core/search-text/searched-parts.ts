/** Words of a text that are searched; further ones are ignored. */
const MAX_WORDS = 8;

/** Returns the parts that a matching text must contain. In searched texts every word follows a space. */
export function searchedParts(text: string): readonly string[] {
  return text
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
    .map(partOf);
}

/** A word of one or two characters matches beginnings of words only, because an index of trigrams cannot find it elsewhere. */
function partOf(word: string): string {
  return word.length < 3 ? ` ${word}` : word;
}
