/** Characters that start or end an embedding, override or isolate (UAX #9), and so reorder the text around them. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns text for one printed line: in normal form NFC, without control characters and characters that reorder other
 * text, with single spaces.
 */
export function printableText(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(REORDERING, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

/**
 * Encloses a part of a printed text in isolate characters (UAX #9). A part that is read from right to left, such as an
 * Arabic name, then leaves the order of the text around it unchanged.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

/** Returns the first characters of the text. Counts code points, as the API and PostgreSQL do. */
export function firstCharacters(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('');
}
