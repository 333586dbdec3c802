/** A4, in points (1/72 inch). */
export const PAGE_WIDTH_PT = 595.28;
export const PAGE_HEIGHT_PT = 841.89;
const MARGIN_PT = 48;
const FOOT_PT = 28;

export type Color = 'ink' | 'quiet' | 'good' | 'bad';

export interface TextStyle {
  readonly weight: 'regular' | 'bold';
  readonly sizePt: number;
  readonly color: Color;
}

/** Drawing command. `x` and `y` count from the top left corner; `y` of a text is its base line. */
export type DrawingCommand =
  | {
      readonly kind: 'text';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly style: TextStyle;
    }
  | {
      readonly kind: 'rule';
      readonly x: number;
      readonly y: number;
      readonly width: number;
    }
  | {
      readonly kind: 'frame';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly color: Color;
    };

export type SheetPage = readonly DrawingCommand[];

/** Widths of texts, in points. */
export interface Typeface {
  widthOf(text: string, style: TextStyle): number;
}

export class Sheet {
  readonly left = MARGIN_PT;
  readonly right = PAGE_WIDTH_PT - MARGIN_PT;
  readonly width = this.right - this.left;
  private readonly bottom = PAGE_HEIGHT_PT - MARGIN_PT - FOOT_PT;
  private readonly drawn: DrawingCommand[][] = [];
  private top = MARGIN_PT;

  constructor(private readonly typeface: Typeface) {}

  get pages(): readonly SheetPage[] {
    return this.drawn;
  }

  get y(): number {
    return this.top;
  }

  startPage(): void {
    this.drawn.push([]);
    this.top = MARGIN_PT;
  }

  moveTo(y: number): void {
    this.top = y;
  }

  skip(height: number): void {
    this.top += height;
  }

  fits(height: number): boolean {
    return this.top + height <= this.bottom;
  }

  widthOf(text: string, style: TextStyle): number {
    return this.typeface.widthOf(text, style);
  }

  lineHeightOf(style: TextStyle): number {
    return style.sizePt * 1.4;
  }

  line(text: string, style: TextStyle, x = this.left): void {
    this.textAt(text, style, x);
    this.skip(this.lineHeightOf(style));
  }

  lineRight(text: string, style: TextStyle, right: number): void {
    this.textAtRight(text, style, right);
    this.skip(this.lineHeightOf(style));
  }

  /** Draws a text at `x` on the current line, without moving to the next line. */
  textAt(text: string, style: TextStyle, x: number): void {
    if (text !== '') this.draw({ kind: 'text', x, y: this.baselineOf(style), text, style });
  }

  textAtRight(text: string, style: TextStyle, right: number): void {
    this.textAt(text, style, right - this.widthOf(text, style));
  }

  drawRule(x = this.left): void {
    this.draw({ kind: 'rule', x, y: this.top, width: this.right - x });
    this.skip(4);
  }

  frame(x: number, width: number, height: number, color: Color): void {
    this.draw({ kind: 'frame', x, y: this.top, width, height, color });
  }

  drawFooter(page: SheetPage, left: string, right: string, style: TextStyle): void {
    const y = PAGE_HEIGHT_PT - MARGIN_PT;
    const index = this.drawn.findIndex((one) => one === page);
    this.drawn[index]?.push(
      { kind: 'text', x: this.left, y, text: left, style },
      { kind: 'text', x: this.right - this.widthOf(right, style), y, text: right, style },
    );
  }

  private baselineOf(style: TextStyle): number {
    return this.top + style.sizePt * 1.05;
  }

  private draw(command: DrawingCommand): void {
    this.drawn.at(-1)?.push(command);
  }
}
