export interface Settings {
  readonly rounds: number;
  /** Duration of the measurement of each side in a round. */
  readonly seconds: number;
  readonly connections: number;
  /** Folder where the service writes a CPU profile; null for none. */
  readonly profileDirectory: string | null;
  /** Numbers of customers of the benchmark `scale`, ascending. */
  readonly sizes: readonly number[];
  /** Folder for the figures and the plot of the benchmark `scale`; null for none. */
  readonly outputDirectory: string | null;
}

/**
 * One line of the table: the figures of the service, and the ceilings to compare them with. In most lines, a ceiling is
 * the rate of the same work without the service.
 */
export interface Finding {
  readonly benchmark: string;
  readonly unit: string;
  readonly figures: readonly number[];
  /** Ceilings of the same rounds as `figures`, in the same order. Null if the target needs no ceilings. */
  readonly ceilings: readonly number[] | null;
  readonly target:
    | { readonly kind: 'ratio'; readonly atLeast: number }
    | { readonly kind: 'ratio'; readonly atMost: number }
    | { readonly kind: 'figure'; readonly atLeast: number }
    | { readonly kind: 'figure'; readonly atMost: number }
    /** No target: the line only adds information to another line. */
    | null;
}

/**
 * Measures the sides of a comparison alternately (A B A B …), so that other load on the machine affects all of them.
 * Discards the first round, which fills caches and compiles code.
 */
export async function inTurn<Values extends object>(
  rounds: number,
  sides: { readonly [Side in keyof Values]: () => Promise<Values[Side]> },
): Promise<{ readonly [Side in keyof Values]: readonly Values[Side][] }> {
  const names = Object.keys(sides) as (keyof Values)[];
  const found = {} as { [Side in keyof Values]: Values[Side][] };
  for (const name of names) found[name] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const measured = await sides[name]();
      if (round > 0) found[name].push(measured);
    }
  }
  return found;
}

/** Measures the figure and the ceiling alternately. */
export function alternate(
  rounds: number,
  figure: () => Promise<number>,
  ceiling: () => Promise<number>,
): Promise<Pick<Finding, 'figures'> & { readonly ceilings: readonly number[] }> {
  return inTurn(rounds, { figures: figure, ceilings: ceiling });
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the percentile of the values for a fraction from 0 to 1, interpolated between the two nearest values. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/**
 * Returns the difference of the largest and the smallest value, divided by the median. A small spread means a reliable
 * figure.
 */
export function spread(values: readonly number[]): number {
  const range = Math.max(...values) - Math.min(...values);
  return range === 0 ? 0 : range / median(values);
}

/**
 * Returns the median of the ratios of figure and ceiling. Each round has its own ratio, because a disturbance in a
 * round affects both values.
 */
export function ratioOf({ figures, ceilings }: Finding): number | null {
  if (ceilings === null) return null;
  return median(figures.map((figure, round) => figure / (ceilings[round] ?? Number.NaN)));
}

export function isMet(finding: Finding): boolean {
  const { target, figures } = finding;
  if (target === null) return true;
  const figure = target.kind === 'ratio' ? (ratioOf(finding) ?? Number.NaN) : median(figures);
  return 'atLeast' in target ? figure >= target.atLeast : figure <= target.atMost;
}
