/** Maximum number of words to search for. Further words are ignored. */
const MAX_WORDS = 8;

/**
 * Splits a search text into the substrings that a stored text must contain to match. For example, `li chen` gives ` li`
 * and `chen`. Stored texts have a space before every word.
 */
export function searchedParts(text: string): readonly string[] {
  return text
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
    .map(partOf);
}

/**
 * Returns the substring to search for, given one word of the search text. A word of one or two characters gets a
 * leading space, so that it matches only starts of words. The trigram index cannot find so few characters inside a
 * word.
 */
function partOf(word: string): string {
  return word.length < 3 ? ` ${word}` : word;
}
