/**
 * Returns SQL for the lower-case ASCII form of a text. A character beyond ASCII becomes the octal digits of its UTF-8
 * bytes, such as `\303\274` for ü. A backslash becomes a slash, so that a backslash always begins such digits.
 *
 * In databases with some locales, a trigram index of the text itself would ignore characters beyond ASCII. A search for
 * them would then read the whole table.
 */
const asciiOf = (text: string): string =>
  String.raw`encode(replace(lower(${text}), '\', '/')::bytea, 'escape')`;

/**
 * Returns SQL that joins columns into the text that is searched. The text begins with a space, so that every word, even
 * the first one, follows a space.
 */
export const searchedText = (...columns: readonly string[]): string =>
  columns.map((column) => `' ' || ${column}`).join(' || ');

/**
 * Returns SQL for the condition that a text contains a part, without regard to case. The trigram index of the ASCII
 * form finds candidates. Some candidates are wrong, because digits in the part can match the octal digits of a
 * character. Therefore `strpos` then compares the original texts.
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
