/** Maximum number of words to search for. Further words are ignored. */
const MAX_WORDS = 8;

/** Returns the substrings that a text must contain to match. Stored texts have a space before every word. */
export function searchedParts(text: string): readonly string[] {
  return text
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
    .map(partOf);
}

/**
 * Returns the substring to search for, given one word of the search text. A trigram index finds one or two characters
 * only at the start of a word. A word of this length therefore gets a leading space, so that it matches only the starts
 * of words after a plain space.
 */
function partOf(word: string): string {
  return word.length < 3 ? ` ${word}` : word;
}
