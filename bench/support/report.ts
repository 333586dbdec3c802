import { type Finding, isMet, median, ratioOf, spread } from './rounds';

const HEADINGS = ['benchmark', 'figure', 'ceiling', 'ratio', 'spread', 'target', ''];

/** Formats the table at the end of a run. */
export function tableOf(findings: readonly Finding[]): string {
  const lines = [HEADINGS, ...findings.map(cellsOf)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  );
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}

function cellsOf(finding: Finding): readonly string[] {
  const { benchmark, unit, figures, ceilings } = finding;
  return [
    benchmark,
    `${rounded(median(figures))} ${unit}`,
    ceilings === null ? '' : `${rounded(median(ceilings))} ${unit}`,
    ratioOf(finding)?.toFixed(2) ?? '',
    spreadOf(finding),
    targetOf(finding),
    resultOf(finding),
  ];
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats the spread of the figures and of the ceilings. */
function spreadOf({ figures, ceilings }: Finding): string {
  const percent = (values: readonly number[]): string => `${Math.round(spread(values) * 100)} %`;
  return ceilings === null ? percent(figures) : `${percent(figures)} / ${percent(ceilings)}`;
}

function resultOf(finding: Finding): string {
  if (finding.target === null) return '';
  return isMet(finding) ? 'met' : 'NOT MET';
}

function targetOf({ target, unit }: Finding): string {
  if (target === null) return '';
  if (target.kind === 'ratio') {
    return 'atLeast' in target ? `ratio >= ${target.atLeast}` : `ratio <= ${target.atMost}`;
  }
  return 'atLeast' in target
    ? `>= ${rounded(target.atLeast)} ${unit}`
    : `<= ${rounded(target.atMost)} ${unit}`;
}
