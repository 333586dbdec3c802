const [WIDTH, HEIGHT, MARGIN] = [960, 640, 60];

interface Line {
  readonly name: string;
  readonly points: readonly (readonly [size: number, figure: number])[];
}

/**
 * Returns an SVG plot with logarithmic axes. A figure that grows in proportion to the size is a straight line, and all
 * such lines have the same slope.
 */
export function growthPlot(lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points).filter(([, figure]) => figure > 0);
  const place = (values: readonly number[], from: number, to: number) => {
    const [least, most] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
    return (value: number): number =>
      from + ((to - from) * (Math.log(value) - least)) / Math.max(most - least, 1e-9);
  };
  const across = place(
    points.map(([size]) => size),
    MARGIN,
    WIDTH / 2,
  );
  const up = place(
    points.map(([, figure]) => figure),
    HEIGHT - MARGIN,
    MARGIN,
  );
  const drawn = lines.map(({ name, points: all }, index) => {
    const shown = all.filter(([, figure]) => figure > 0);
    const colour = `hsl(${(index * 137) % 360} 60% 40%)`;
    const path = shown.map(
      ([size, figure]) => `${across(size).toFixed(1)},${up(figure).toFixed(1)}`,
    );
    const last = shown.at(-1);
    const label =
      last === undefined
        ? ''
        : `<text x="${WIDTH / 2 + 8}" y="${up(last[1]).toFixed(1)}" fill="${colour}">${escaped(name)}: ${last[1].toFixed(2)}</text>`;
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}"/>${label}`;
  });
  const sizes = [...new Set(points.map(([size]) => size))].map(
    (size) => `<text x="${across(size).toFixed(1)}" y="${HEIGHT - MARGIN / 2}">${size}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-size="9" font-family="sans-serif">`,
    ...drawn,
    ...sizes,
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
