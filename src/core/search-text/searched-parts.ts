/** Words of a text that are searched; further ones are ignored. */
const MAX_WORDS = 8;

/** Returns the substrings that a text must contain to match. Searched texts have a space before every word. */
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
