/**
 * Returns SQL for the lower-case ASCII form of a text. A character beyond ASCII becomes the octal digits of its UTF-8
 * bytes, such as `\303\274` for ü. A backslash becomes a slash, so that a backslash always begins such digits.
 *
 * This form is indexed, because in databases with some locales a trigram index of the text itself would ignore
 * characters beyond ASCII. A search for them would then read the whole table.
 */
const asciiOf = (text: string): string =>
  String.raw`encode(replace(lower(${text}), '\', '/')::bytea, 'escape')`;

/** Returns SQL that joins columns into one text for searches. Every word in it, even the first, follows a space. */
export const searchedText = (...columns: readonly string[]): string =>
  columns.map((column) => `' ' || ${column}`).join(' || ');

/**
 * Returns an SQL condition: the text contains the part, in upper or lower case. The trigram index of the ASCII form
 * finds candidates. Digits in the part can match octal digits of a character, so `strpos` compares the texts again.
 * @param part SQL parameter with the part, such as `$1`; `%`, `_` and a backslash in the part stand for themselves
 */
export const containsPart = (searched: string, part: string): string => {
  // Escapes the backslash first, because the other escapes add backslashes.
  const escaped = ['\\', '%', '_'].reduce(
    (sql, character) => `replace(${sql}, '${character}', '\\${character}')`,
    asciiOf(part),
  );
  return `${asciiOf(searched)} LIKE '%' || ${escaped} || '%' AND strpos(lower(${searched}), lower(${part})) > 0`;
};
