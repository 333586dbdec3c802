/**
 * Splits a text into lines of at most `width`, at spaces. Also splits a word that is wider than a line. Returns at
 * least one line, which may be empty.
 */
export function wrap(
  text: string,
  width: number,
  widthOf: (text: string) => number,
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = cut(word, width, widthOf);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  return [...lines, line];
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a word into pieces of at most `width`. A character that is wider than a line is a piece of its own. */
function cut(word: string, width: number, widthOf: (text: string) => number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let pieceWidth = 0;
  for (const { segment } of graphemes.segment(word)) {
    const segmentWidth = widthOf(segment);
    if (piece !== '' && pieceWidth + segmentWidth > width) {
      pieces.push(piece);
      piece = '';
      pieceWidth = 0;
    }
    piece += segment;
    pieceWidth += segmentWidth;
  }
  return [...pieces, piece];
}
