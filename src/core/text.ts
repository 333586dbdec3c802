/** Returns text for one printed line: in normal form NFC, without control characters, with single spaces. */
export function printableText(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

/** Returns the first characters of the text. Counts code points, as the API and PostgreSQL do. */
export function firstCharacters(text: string, max: number): string {
  return Array.from(text).slice(0, max).join('');
}
