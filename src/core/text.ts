/** Characters that start or end an embedding, override or isolate (UAX #9), and so reorder the text around them. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text as one line for printing: in normal form NFC, and without characters that reorder other text.
 * Spaces, line breaks and control characters become single spaces, with none at the start or the end.
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

/**
 * Returns at most the first `max` characters of the text. A character is a code point, as in the API and in PostgreSQL.
 */
export function firstCharacters(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('');
}
