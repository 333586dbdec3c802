import { embeddingLevels, inVisualOrder, mirrored, reversed } from './text-direction';

interface Run {
  readonly level: number;
  readonly text: string;
}

/** The characters of a line as they stand on paper, from left to right. */
function visual(line: string): string {
  const levels = embeddingLevels(line);
  if (levels === null) return line;
  const runs = Array.from(line, (text, index): Run => ({ text, level: levels[index] ?? 0 }));
  return inVisualOrder(runs)
    .map(({ text, level }) => (level % 2 === 1 ? mirrored(text) : text))
    .join('');
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
  ])('%j stands on paper as %j', (logical, expected) => {
    expect(visual(logical)).toBe(expected);
  });

  it('keeps marks with their character when it is reversed', () => {
    expect(reversed('a\u0301b')).toBe('ba\u0301');
  });
});
