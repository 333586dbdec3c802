import { scaleBand, scaleLinear } from 'd3-scale';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { showNumber } from '../format/text';
import css from './chart.module.css';

const HEIGHT = 240;
const LEFT = 72;
const BOTTOM = 24;
const TOP = 8;
const LABEL_PIXELS = 90;
const SERIES_CLASSES = ['series0', 'series1', 'series2', 'series3', 'series4'] as const;

export interface Bar {
  readonly key: string;
  readonly label: string;
  /** Values by series. */
  readonly parts: ReadonlyMap<string, number>;
}

export interface StackedBarsProps {
  readonly bars: readonly Bar[];
  readonly caption: string;
  readonly unit: string;
  /** Returns a value as text. Default: the number with separators. */
  readonly format?: (value: number) => string;
  /** Returns a value of the axis as a short text. */
  readonly formatTick?: (value: number) => string;
  /** Opens the details of a bar, by a click or Enter. */
  readonly onOpen?: (bar: Bar) => void;
}

const classOfSeries = (index: number): string | undefined =>
  css[SERIES_CLASSES[index % SERIES_CLASSES.length] ?? 'series0'];

/** Returns the sum of the positive parts of a bar, or of its negative parts. */
const sumOf = ({ parts }: Bar, sign: 1 | -1): number =>
  [...parts.values()].reduce((sum, one) => sum + (one * sign > 0 ? one : 0), 0);

interface Drawing {
  readonly xOf: (bar: Bar) => number;
  readonly barPixels: number;
  readonly stepPixels: number;
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** One SVG path for each series, so that thousands of bars need only a few elements. */
  readonly paths: readonly string[];
}

function draw(bars: readonly Bar[], series: readonly string[], width: number): Drawing {
  const x = scaleBand(
    bars.map(({ key }) => key),
    [LEFT, width - 4],
  ).paddingInner(bars.length > 200 ? 0 : 0.25);
  const most = Math.max(1, ...bars.map((bar) => sumOf(bar, 1)));
  const least = Math.min(0, ...bars.map((bar) => sumOf(bar, -1)));
  const y = scaleLinear([least, most], [HEIGHT - BOTTOM, TOP]).nice(4);
  const barPixels = x.bandwidth();
  const xOf = ({ key }: Bar): number => x(key) ?? 0;
  const paths = series.map((name, index) =>
    bars
      .filter(({ parts }) => (parts.get(name) ?? 0) !== 0)
      .map((bar) => {
        const value = bar.parts.get(name) ?? 0;
        const nearer = series
          .slice(0, index)
          .map((one) => bar.parts.get(one) ?? 0)
          .filter((one) => one * value > 0)
          .reduce((sum, one) => sum + one, 0);
        return `M${xOf(bar)} ${y(nearer)}h${barPixels}V${y(nearer + value)}h${-barPixels}Z`;
      })
      .join(''),
  );
  // Integers, such as counts, get no ticks at fractions.
  const isWhole = bars.every(({ parts }) => [...parts.values()].every(Number.isInteger));
  const ticks = y
    .ticks(4)
    .filter((value) => !isWhole || Number.isInteger(value))
    .map((value) => ({ value, y: y(value) }));
  return { xOf, barPixels, stepPixels: x.step(), ticks, paths };
}

function useWidth(): readonly [React.RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(240, Math.round(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

/** Stacked bars. Arrow keys select one bar after the other, and a table contains the same figures. */
export function StackedBars(props: StackedBarsProps): ReactNode {
  const { bars, caption, unit, format = showNumber, formatTick = format, onOpen } = props;
  const [selected, setSelected] = useState<number | null>(null);
  const [box, width] = useWidth();
  const id = useId();
  const series = useMemo(
    () => [...new Set(bars.flatMap(({ parts }) => [...parts.keys()]))].sort(),
    [bars],
  );
  const drawing = useMemo(() => draw(bars, series, width), [bars, series, width]);
  const labelEvery = Math.ceil(bars.length / Math.max(2, Math.floor(width / LABEL_PIXELS)));
  const bar = selected === null ? undefined : bars[selected];
  const open = (one: Bar | undefined): void => {
    if (one !== undefined) onOpen?.(one);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') open(bar);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    setSelected((now) => Math.min(bars.length - 1, Math.max(0, (now ?? -1) + step)));
  };
  const indexAt = (event: MouseEvent<SVGSVGElement>): number | null => {
    const { left } = event.currentTarget.getBoundingClientRect();
    const index = Math.floor((event.clientX - left - LEFT) / drawing.stepPixels);
    return index >= 0 && index < bars.length ? index : null;
  };
  return (
    <figure className={css['figure']}>
      <div ref={box}>
        <svg
          role="img"
          aria-labelledby={id}
          tabIndex={0}
          width={width}
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          onKeyDown={onKeyDown}
          // Uses the position of the click, because a touch screen selects no bar before it.
          onClick={(event) => open(bars[indexAt(event) ?? -1])}
          onPointerMove={(event) => setSelected(indexAt(event))}
          onPointerLeave={() => setSelected(null)}
        >
          {drawing.ticks.map(({ value, y }) => (
            <g key={value}>
              <line className={css['grid']} x1={LEFT} x2={width} y1={y} y2={y} />
              <text className={css['tick']} x={LEFT - 8} y={y} dy="0.32em" textAnchor="end">
                {formatTick(value)}
              </text>
            </g>
          ))}
          {bar !== undefined && (
            <rect
              className={css['hover']}
              x={drawing.xOf(bar) - 2}
              y={TOP}
              width={drawing.barPixels + 4}
              height={HEIGHT - TOP - BOTTOM}
            />
          )}
          {drawing.paths.map((path, index) => (
            <path key={series[index]} className={classOfSeries(index)} d={path} />
          ))}
          {bars
            .filter((_, index) => index % labelEvery === 0)
            .map((one) => (
              <text
                key={one.key}
                className={css['tick']}
                x={drawing.xOf(one) + drawing.barPixels / 2}
                y={HEIGHT - 6}
                textAnchor="middle"
              >
                {one.label}
              </text>
            ))}
        </svg>
        <Legend bar={bar} series={series} format={format} />
      </div>
      <figcaption id={id} className="visually-hidden">
        {caption}
      </figcaption>
      <FiguresTable bars={bars} series={series} caption={caption} unit={unit} format={format} />
    </figure>
  );
}

function Legend({
  bar,
  series,
  format,
}: {
  readonly bar: Bar | undefined;
  readonly series: readonly string[];
  readonly format: (value: number) => string;
}): ReactNode {
  return (
    <p className={css['legend']} aria-live="polite">
      {bar !== undefined && <strong>{bar.label}</strong>}
      {series.map((name, index) => (
        <span key={name}>
          <svg aria-hidden="true" viewBox="0 0 1 1">
            <rect className={classOfSeries(index)} width="1" height="1" />
          </svg>
          {name.slice(0, 60)}
          {bar !== undefined && ` ${format(bar.parts.get(name) ?? 0)}`}
        </span>
      ))}
    </p>
  );
}

function FiguresTable({
  bars,
  series,
  caption,
  unit,
  format,
}: Required<Pick<StackedBarsProps, 'bars' | 'caption' | 'unit' | 'format'>> & {
  readonly series: readonly string[];
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className={css['table']} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        <div tabIndex={0} role="region" aria-label={`${caption}, table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time (UTC)</th>
                {series.map((name) => (
                  <th key={name} scope="col" className="number">
                    {name} ({unit})
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {bars.map(({ key, parts }) => (
                <tr key={key}>
                  <td>{key}</td>
                  {series.map((name) => (
                    <td key={name} className="number">
                      {format(parts.get(name) ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
