import { invariant } from '../../../../core/invariant';
import type { InvoiceDocument, Party } from './invoice-document';
import { Sheet, type SheetPage, type TextStyle, type Typeface } from './sheet';
import { layOutTable, type StyledText, textsOf } from './table';
import { wrap } from './wrap';

const BODY: TextStyle = { weight: 'regular', sizePt: 9, color: 'ink' };
const STRONG: TextStyle = { ...BODY, weight: 'bold' };
const QUIET: TextStyle = { ...BODY, color: 'quiet' };
const TITLE: TextStyle = { weight: 'bold', sizePt: 18, color: 'ink' };
const SELLER: TextStyle = { weight: 'bold', sizePt: 12, color: 'ink' };
const SMALL: TextStyle = { ...QUIET, sizePt: 8 };

const GAP_PT = 20;
const LABEL_PT = 60;
const STAMP = { PAID: 'good', VOID: 'bad' } as const;

export function layOut(document: InvoiceDocument, typeface: Typeface): readonly SheetPage[] {
  const sheet = new Sheet(typeface);
  const startPage = (): void => {
    sheet.startPage();
    const stamp = document.stamp === null ? '' : ` \u00b7 ${document.stamp}`;
    sheet.line(`${document.title}${stamp}`, SMALL);
    sheet.skip(GAP_PT / 2);
  };
  layOutHead(document, sheet, startPage);
  layOutTable(document, sheet, startPage);
  sheet.skip(GAP_PT / 2);
  layOutTotals(document, sheet, startPage);
  layOutNotes(document, sheet, startPage);
  return withPageNumbers(sheet, document.title);
}

function layOutHead(document: InvoiceDocument, sheet: Sheet, startPage: () => void): void {
  sheet.startPage();
  const half = (sheet.width - GAP_PT) / 2;
  const top = sheet.y;

  const sellerRest = drawFitting(partyTexts(document.seller, SELLER, half, sheet), sheet);
  sheet.moveTo(Math.max(sheet.y, top + 64) + GAP_PT);
  const middle = sheet.y;
  const buyer = [
    { text: 'Bill to', style: SMALL },
    ...partyTexts(document.buyer, STRONG, half, sheet),
  ];
  let rest = drawFitting([...sellerRest, ...buyer], sheet);
  const leftEnd = sheet.y;

  sheet.moveTo(top);
  for (const text of wrap(document.title, half, (part) => sheet.widthOf(part, TITLE))) {
    sheet.lineRight(text, TITLE, sheet.right);
  }
  if (document.stamp !== null) layOutStamp(document.stamp, sheet);
  layOutDetails(document.details, sheet, middle);

  sheet.moveTo(Math.max(leftEnd, sheet.y));
  while (rest.length > 0) {
    startPage();
    rest = drawFitting(rest, sheet);
  }
  sheet.skip(GAP_PT);
}

function partyTexts(
  { name, details }: Party,
  nameStyle: TextStyle,
  width: number,
  sheet: Sheet,
): readonly StyledText[] {
  return [
    ...(name === null ? [] : textsOf(name, nameStyle, width, sheet)),
    ...details.flatMap((detail) => textsOf(detail, BODY, width, sheet)),
  ];
}

/** Draws as many lines as fit on the page, and returns the others. */
function drawFitting(lines: readonly StyledText[], sheet: Sheet): readonly StyledText[] {
  const overflow = lines.findIndex(({ text, style }) => {
    if (!sheet.fits(sheet.lineHeightOf(style))) return true;
    sheet.line(text, style);
    return false;
  });
  return overflow === -1 ? [] : lines.slice(overflow);
}

/** Draws the details beside the buyer. If they do not fit on the page there, draws them directly below the title. */
function layOutDetails(details: InvoiceDocument['details'], sheet: Sheet, buyerTop: number): void {
  const half = (sheet.width - GAP_PT) / 2;
  const rows = details.map(({ label, value }) => ({
    label,
    texts: textsOf(value, BODY, half - LABEL_PT, sheet),
  }));
  const height = rows.flatMap(({ texts }) => texts).length * sheet.lineHeightOf(BODY);
  const titleEnd = sheet.y + GAP_PT / 2;
  sheet.moveTo(Math.max(buyerTop, titleEnd));
  if (!sheet.fits(height)) sheet.moveTo(titleEnd);
  for (const { label, texts } of rows) {
    sheet.textAt(label, QUIET, sheet.right - half);
    for (const { text } of texts) sheet.lineRight(text, BODY, sheet.right);
  }
}

function layOutStamp(stamp: keyof typeof STAMP, sheet: Sheet): void {
  const style: TextStyle = { weight: 'bold', sizePt: 13, color: STAMP[stamp] };
  const paddingPt = 8;
  const width = sheet.widthOf(stamp, style) + 2 * paddingPt;
  sheet.skip(6);
  sheet.frame(sheet.right - width, width, 24, STAMP[stamp]);
  sheet.skip(3);
  sheet.lineRight(stamp, style, sheet.right - paddingPt);
  sheet.skip(6);
}

/** Draws the totals, aligned to the right margin, on one page if they fit. */
function layOutTotals(document: InvoiceDocument, sheet: Sheet, startPage: () => void): void {
  const styles = { plain: BODY, strong: STRONG, quiet: QUIET };
  const widest = Math.max(
    ...document.totals.map(({ amount, weight }) => sheet.widthOf(amount, styles[weight])),
  );
  const labelsEnd = sheet.right - widest - GAP_PT;
  const labelWidth = Math.min(240, labelsEnd - sheet.left);
  const rows = document.totals.map((total) => {
    const style = styles[total.weight];
    const label = wrap(total.label, labelWidth, (part) => sheet.widthOf(part, style));
    return { ...total, label, style };
  });
  const heightOf = (row: (typeof rows)[number]): number =>
    row.label.length * sheet.lineHeightOf(row.style) + 3;
  if (!sheet.fits(rows.reduce((sum, row) => sum + heightOf(row), 0))) startPage();
  for (const row of rows) {
    if (!sheet.fits(heightOf(row))) startPage();
    if (row.weight === 'strong') sheet.drawRule(labelsEnd - labelWidth);
    sheet.textAtRight(row.amount, row.style, sheet.right);
    for (const text of row.label) sheet.lineRight(text, row.style, labelsEnd);
    sheet.skip(3);
  }
}

function layOutNotes(document: InvoiceDocument, sheet: Sheet, startPage: () => void): void {
  sheet.skip(GAP_PT);
  for (const note of document.notes) {
    for (const text of wrap(note, sheet.width, (part) => sheet.widthOf(part, BODY))) {
      if (!sheet.fits(sheet.lineHeightOf(BODY))) startPage();
      sheet.line(text, BODY);
    }
  }
}

function withPageNumbers(sheet: Sheet, title: string): readonly SheetPage[] {
  invariant(sheet.pages.length > 0, 'an invoice has a page');
  sheet.pages.forEach((page, index) => {
    sheet.drawFooter(page, title, `${index + 1} / ${sheet.pages.length}`, SMALL);
  });
  return sheet.pages;
}
