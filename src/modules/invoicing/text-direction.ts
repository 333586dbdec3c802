import bidiFactory from 'bidi-js';

/** Unicode Bidirectional Algorithm (UAX #9). */
const bidi = bidiFactory();

/** Letters of scripts that are read from right to left, and marks that set that direction. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export function isRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/**
 * Returns the embedding level of each UTF-16 unit: odd if read from right to left. Null: all is read from left to
 * right.
 */
export function embeddingLevels(line: string): Uint8Array | null {
  return isRightToLeft(line) ? bidi.getEmbeddingLevels(line, 'auto').levels : null;
}

/** Returns the mirror image of a character for text read from right to left: `)` for `(`. Others are unchanged. */
export function mirrored(character: string): string {
  return bidi.getMirroredCharacter(character) ?? character;
}

/**
 * Sorts runs (pieces of text with one embedding level) into the order in which they are shown from left to right. From
 * the highest level down, reverses adjacent runs at that level or above (UAX #9, rule L2). Does not change the text in
 * the runs.
 */
export function inVisualOrder<Run extends { readonly level: number }>(
  runs: readonly Run[],
): readonly Run[] {
  let ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    const next: Run[] = [];
    let raised: Run[] = [];
    for (const run of ordered) {
      if (run.level >= level) {
        raised = [run, ...raised];
      } else {
        next.push(...raised, run);
        raised = [];
      }
    }
    ordered = [...next, ...raised];
  }
  return ordered;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Reverses the characters of a text. Combining marks stay with their character. */
export function reversed(text: string): string {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
    .toReversed()
    .join('');
}
