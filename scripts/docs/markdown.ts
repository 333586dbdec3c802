/** Returns a table of Markdown. Escapes text that would end a cell. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}

function escaped(cell: string): string {
  return cell
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Returns a code with an anchor, so that links such as `docs/errors.md#coupon_not_found` lead to it. */
export function anchored(code: string): string {
  return `<a id="${code}"></a>\`${code}\``;
}

export function page(...lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
