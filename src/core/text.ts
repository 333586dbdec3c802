/** Control characters for the direction of text (embeddings, overrides, isolates: UAX #9). They reorder other text. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text as one line for printing: in normal form NFC, and without characters that reorder other text. Each
 * run of spaces, line breaks and control characters becomes one space. Spaces at the start and the end are removed.
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
 * Encloses a part of a printed text in isolate characters (UAX #9). Right-to-left text in this part, such as an Arabic
 * name, then does not reorder the text around it.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

/** Returns at most the first `max` characters (code points, as in the API and in PostgreSQL). */
export function firstCharacters(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('');
}
