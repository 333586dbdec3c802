import { embeddingLevels, inVisualOrder, mirrored, reversed } from './text-direction';

interface Run {
  readonly level: number;
  readonly text: string;
}

/** The characters of a line as they stand on paper, from left to right, without isolates. */
function visual(line: string): string {
  const levels = embeddingLevels(line);
  if (levels === null) return line;
  const runs = Array.from(line, (text, index): Run => ({ text, level: levels[index] ?? 0 }));
  return inVisualOrder(runs)
    .map(({ text, level }) => (level % 2 === 1 ? mirrored(text) : text))
    .join('')
    .replaceAll(/[\u2068\u2069]/g, '');
}

describe('text of both directions', () => {
  it.each([
    ['Ada Lovelace (Ltd.) 12', 'Ada Lovelace (Ltd.) 12'],
    ['אבג', 'גבא'],
    ['אבג דה', 'הד גבא'],
    ['אבג 123', '123 גבא'],
    ['אבג 12.50', '12.50 גבא'],
    ['Bill אבג דה now', 'Bill הד גבא now'],
    ['Plan אבג (דה)', 'Plan (הד) גבא'],
    ['אבג (Pro) דה', 'הד (Pro) גבא'],
    ['אבג Pro 2 דה', 'הד Pro 2 גבא'],
    ['شركة 2026', '2026 ةكرش'],
    [
      'includes \u2068شركة\u2069 \u206815%\u2069 on \u20681\u202f073.54\u2069',
      'includes ةكرش 15% on 1\u202f073.54',
    ],
    ['\u2068אבג\u2069 \u206817%\u2069 on \u20681\u202f073.54\u2069', 'גבא 17% on 1\u202f073.54'],
    // The second line of a name that is too long for one.
    ['אבג\u2069 \u206817%\u2069 on \u20681\u202f073.54\u2069', '1\u202f073.54 on 17% גבא'],
  ])('%j stands on paper as %j', (logical, expected) => {
    expect(visual(logical)).toBe(expected);
  });

  it('keeps marks with their character when it is reversed', () => {
    expect(reversed('a\u0301b')).toBe('ba\u0301');
  });
});
