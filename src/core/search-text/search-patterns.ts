/** Words of a text that are searched; further ones are ignored. */
const MOST_WORDS = 8;

/** Returns the LIKE patterns of the words of a text. A searched text begins with a space and must match all of them. */
export function searchPatterns(text: string): readonly string[] {
  return text
    .trim()
    .split(/\s+/u)
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS)
    .map(patternOf);
}

/**
 * Returns the LIKE pattern of a word. A word of one or two characters matches beginnings of words only, because an index
 * of trigrams cannot find it elsewhere.
 */
function patternOf(word: string): string {
  const escaped = word.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return word.length < 3 ? `% ${escaped}%` : `%${escaped}%`;
}
