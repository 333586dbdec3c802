import type { DocumentLine, InvoiceDocument } from './invoice-document';
import type { Sheet, TextStyle } from './sheet';
import { wrap } from './wrap';

const CELL: TextStyle = { weight: 'regular', sizePt: 9, color: 'ink' };
const HEADING: TextStyle = { weight: 'bold', sizePt: 8, color: 'quiet' };
const PERIOD: TextStyle = { weight: 'regular', sizePt: 8, color: 'quiet' };

const GUTTER_PT = 12;
const ROW_GAP_PT = 5;
/** Largest width of a figure, in points. Wider figures are printed smaller, to leave room for the description. */
const WIDEST_FIGURE_PT = 92;
/** If figures leave less than this width for the description, in points, they are printed smaller still. */
const NARROWEST_DESCRIPTION_PT = 120;

type Figure = Exclude<keyof DocumentLine, 'description' | 'period'>;

interface Column {
  readonly heading: string;
  readonly figure: Figure;
  /** Right edge of the figures in the column, in points from the left edge of the page. */
  readonly right: number;
}

const FIGURES: readonly (readonly [figure: Figure, heading: string])[] = [
  ['quantity', 'Quantity'],
  ['unitPrice', 'Unit price'],
  ['discount', 'Discount'],
  ['taxRates', 'Tax'],
  ['amount', 'Amount'],
];

/**
 * Draws the invoice lines as rows of a table. A row is split only if it is taller than a page. Each page repeats the
 * headings.
 */
export function layOutTable(document: InvoiceDocument, sheet: Sheet, startPage: () => void): void {
  const { columns, descriptionWidth, widest } = columnsOf(document.lines, sheet);
  const headings = (): void => {
    sheet.textAt('Description', HEADING, sheet.left);
    for (const { heading, right } of columns) sheet.textAtRight(heading, HEADING, right);
    sheet.skip(sheet.lineHeightOf(HEADING) + 2);
    sheet.drawRule();
    sheet.skip(2);
  };
  const turn = (): void => {
    startPage();
    headings();
  };
  if (!sheet.fits(3 * sheet.lineHeightOf(CELL) + GUTTER_PT)) startPage();
  headings();
  for (const line of document.lines) {
    const rows = [
      ...textsOf(line.description, CELL, descriptionWidth, sheet),
      ...(line.period === null ? [] : textsOf(line.period, PERIOD, descriptionWidth, sheet)),
    ];
    const height = rows.reduce((sum, { style }) => sum + sheet.lineHeightOf(style), 0);
    if (!sheet.fits(height)) turn();
    for (const { right, figure } of columns) {
      sheet.textAtRight(line[figure], fitted(line[figure], widest, sheet), right);
    }
    for (const { text, style } of rows) {
      if (!sheet.fits(sheet.lineHeightOf(style))) turn();
      sheet.line(text, style);
    }
    sheet.skip(ROW_GAP_PT);
  }
  sheet.drawRule();
}

export interface StyledText {
  readonly text: string;
  readonly style: TextStyle;
}

export function textsOf(
  text: string,
  style: TextStyle,
  width: number,
  sheet: Sheet,
): readonly StyledText[] {
  return wrap(text, width, (part) => sheet.widthOf(part, style)).map((line) => ({
    text: line,
    style,
  }));
}

function fitted(text: string, widest: number, sheet: Sheet): TextStyle {
  const width = sheet.widthOf(text, CELL);
  return width <= widest ? CELL : { ...CELL, sizePt: (CELL.sizePt * widest) / width };
}

interface TableColumns {
  readonly columns: readonly Column[];
  readonly descriptionWidth: number;
  /** Largest width of a figure in these columns. */
  readonly widest: number;
}

function columnsOf(lines: readonly DocumentLine[], sheet: Sheet): TableColumns {
  const columns = columnsUpTo(WIDEST_FIGURE_PT, lines, sheet);
  if (columns.descriptionWidth >= NARROWEST_DESCRIPTION_PT) return columns;
  const share = (sheet.width - NARROWEST_DESCRIPTION_PT) / columns.columns.length;
  return columnsUpTo(share - GUTTER_PT, lines, sheet);
}

function columnsUpTo(widest: number, lines: readonly DocumentLine[], sheet: Sheet): TableColumns {
  let right = sheet.right;
  const columns: Column[] = [];
  for (const [figure, heading] of FIGURES.toReversed()) {
    if (figure !== 'amount' && lines.every((line) => line[figure] === '')) continue;
    columns.unshift({ heading, figure, right });
    const width = lines.reduce(
      (most, line) =>
        Math.max(most, sheet.widthOf(line[figure], fitted(line[figure], widest, sheet))),
      sheet.widthOf(heading, HEADING),
    );
    right -= width + GUTTER_PT;
  }
  return { columns, descriptionWidth: right - sheet.left, widest };
}
