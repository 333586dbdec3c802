/**
 * Lower-case ASCII form of a text: other characters are the octal digits of their UTF-8 bytes, `\303\274` for ü. Depending on
 * the locale of the database, an index of trigrams ignores characters beyond ASCII, so that a search for them would read the
 * whole table. A backslash becomes a slash, so that backslashes only begin such digits.
 */
const asciiOf = (text: string): string =>
  String.raw`encode(replace(lower(${text}), '\', '/')::bytea, 'escape')`;

/** Joins columns to the text to search. Begins with a space, so that every word follows a space. */
export const searchedText = (...columns: readonly string[]): string =>
  columns.map((column) => `' ' || ${column}`).join(' || ');

/**
 * Returns the condition that a searched text contains a part, without regard to case. The table has an index of trigrams of the
 * ASCII form. It can find too many rows, because the digits of another character may match, so `strpos` compares the texts.
 * @param part parameter with the part, which has no wildcards
 */
export const containsPart = (searched: string, part: string): string => {
  // Escapes the backslash first, because escaping the others adds backslashes.
  const escaped = ['\\', '%', '_'].reduce(
    (sql, character) => `replace(${sql}, '${character}', '\\${character}')`,
    asciiOf(part),
  );
  return `${asciiOf(searched)} LIKE '%' || ${escaped} || '%' AND strpos(lower(${searched}), lower(${part})) > 0`;
};
