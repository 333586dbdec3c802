import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { create, type Font } from 'fontkit';
import PDFDocument from 'pdfkit';
import { Configuration, ConfigurationError } from '../../platform/config';
import {
  embeddingLevels,
  inVisualOrder,
  isRightToLeft,
  mirrored,
  reversed,
} from './text-direction';
import type { InvoiceDocument } from './domain/document/invoice-document';
import { layOut } from './domain/document/layout';
import {
  type Color,
  type DrawingCommand,
  PAGE_HEIGHT_PT,
  PAGE_WIDTH_PT,
  type TextStyle,
} from './domain/document/sheet';

const NOTO_SANS = '@expo-google-fonts/noto-sans';

const COLORS: Readonly<Record<Color, string>> = {
  ink: '#1a1a1a',
  quiet: '#666666',
  good: '#1b7f3b',
  bad: '#b3261e',
};

/** Characters for which a font must be searched. The built-in fonts have all ASCII characters. */
const NOT_ASCII = /[^\x20-\x7e]/;

/** Unicode isolates: invisible characters that only separate texts of different directions. */
const ISOLATE = /[\u2066-\u2069]/;

/** Printed in place of a character that no font has. The first font has a glyph for it. */
const REPLACEMENT = '\ufffd';

interface PrintFont {
  readonly name: string;
  readonly font: Font;
}

/** A piece of text that one font can print. */
interface Run {
  readonly fontName: string;
  readonly text: string;
}

/** A piece of a line with one font and one direction. Its characters are in the order in which they are read. */
interface DirectedRun {
  readonly font: PrintFont;
  /** Embedding level of the bidirectional algorithm. Odd levels are read from right to left. */
  readonly level: number;
  text: string;
}

export interface PrintedInvoice {
  readonly bytes: Buffer;
  /** Characters that no font has. A replacement character is printed for each. */
  readonly missing: ReadonlySet<string>;
}

/** Makes a PDF of an invoice. The same document always gives the same bytes. Embeds only used glyphs of fonts. */
@Injectable()
export class InvoicePrinter {
  /** Fonts by weight, in the order in which they are searched for a glyph. */
  private readonly fonts: Readonly<
    Record<TextStyle['weight'], readonly [PrintFont, ...PrintFont[]]>
  >;

  /** @throws {ConfigurationError} when a font of `INVOICE_FONTS` cannot be read */
  constructor(configuration: Configuration) {
    const further = configuration.invoiceFonts.map(readFurtherFont);
    const own = (name: string, path: string): PrintFont =>
      readFont(name, require.resolve(`${NOTO_SANS}/${path}`));
    this.fonts = {
      regular: [own('regular', '400Regular/NotoSans_400Regular.ttf'), ...further],
      bold: [own('bold', '700Bold/NotoSans_700Bold.ttf'), ...further],
    };
  }

  print(document: InvoiceDocument): Promise<PrintedInvoice> {
    const pdf = new PDFDocument({
      autoFirstPage: false,
      size: [PAGE_WIDTH_PT, PAGE_HEIGHT_PT],
      margin: 0,
      // pdfkit derives the id of the file from these values, so a fixed date makes all bytes of the file repeatable.
      info: { Title: document.title, CreationDate: document.createdAt },
      lang: 'en',
      displayTitle: true,
    });
    for (const { name, font } of [...this.fonts.regular, ...this.fonts.bold]) {
      // pdfkit accepts a parsed font, but its types do not say so. Parsing a font takes longer than printing an invoice.
      pdf.registerFont(name, font as unknown as Uint8Array);
    }
    const missing = new Set<string>();
    const pages = layOut(document, { widthOf: (text, style) => this.widthOf(pdf, text, style) });
    for (const page of pages) {
      pdf.addPage();
      for (const command of page) this.draw(pdf, command, missing);
    }
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
      pdf.on('end', () => {
        resolve({ bytes: Buffer.concat(chunks), missing });
      });
      pdf.on('error', reject);
      pdf.end();
    });
  }

  private draw(pdf: PDFKit.PDFDocument, command: DrawingCommand, missing: Set<string>): void {
    switch (command.kind) {
      case 'text':
        for (const character of this.missingOf(command.text, command.style)) missing.add(character);
        this.drawText(pdf, command);
        return;
      case 'rule':
        pdf
          .moveTo(command.x, command.y)
          .lineTo(command.x + command.width, command.y)
          .lineWidth(0.5)
          .stroke(COLORS.quiet);
        return;
      case 'frame':
        pdf
          .roundedRect(command.x, command.y, command.width, command.height, 3)
          .lineWidth(1.5)
          .stroke(COLORS[command.color]);
    }
  }

  private drawText(
    pdf: PDFKit.PDFDocument,
    { text, style, x, y }: Extract<DrawingCommand, { kind: 'text' }>,
  ): void {
    let left = x;
    for (const run of this.runsOf(text, style)) {
      pdf.font(run.fontName, style.sizePt).fillColor(COLORS[style.color]);
      pdf.text(run.text, left, y, {
        lineBreak: false,
        baseline: 'alphabetic',
        ...shapingOf(run.text),
      });
      left += pdf.widthOfString(run.text, shapingOf(run.text));
    }
  }

  private widthOf(pdf: PDFKit.PDFDocument, text: string, style: TextStyle): number {
    return this.runsOf(text, style).reduce((width, run) => {
      pdf.font(run.fontName, style.sizePt);
      return width + pdf.widthOfString(run.text, shapingOf(run.text));
    }, 0);
  }

  /** Returns the pieces of a line from left to right, each in the character order that its font expects. */
  private runsOf(text: string, style: TextStyle): readonly Run[] {
    return inVisualOrder(this.directedRunsOf(text, style)).map(({ font, level, text: run }) => {
      const isFromRight = level % 2 === 1;
      const asRead = isFromRight ? Array.from(run, mirrored).join('') : run;
      return {
        fontName: font.name,
        text: isFromRight === shapesFromRight(font, asRead) ? asRead : reversed(asRead),
      };
    });
  }

  private directedRunsOf(text: string, style: TextStyle): readonly DirectedRun[] {
    const levels = embeddingLevels(text);
    const runs: DirectedRun[] = [];
    let index = 0;
    for (const { character, font, printed } of this.charactersOf(text, style)) {
      const level = levels?.[index] ?? 0;
      index += character.length;
      if (printed === '') continue;
      const last = runs.at(-1);
      if (last?.font === font && last.level === level) last.text += printed;
      else runs.push({ font, level, text: printed });
    }
    return runs;
  }

  missingIn(texts: readonly string[]): ReadonlySet<string> {
    const others = texts.filter((text) => NOT_ASCII.test(text));
    return new Set(others.flatMap((text) => this.missingOf(text, { weight: 'regular' })));
  }

  private missingOf(text: string, style: Pick<TextStyle, 'weight'>): readonly string[] {
    return this.charactersOf(text, style)
      .filter(({ character, printed }) => printed === REPLACEMENT && character !== REPLACEMENT)
      .map(({ character }) => character);
  }

  /** Returns each character with its font and the printed text: empty, the character, or the replacement character. */
  private charactersOf(
    text: string,
    style: Pick<TextStyle, 'weight'>,
  ): readonly { readonly character: string; readonly font: PrintFont; readonly printed: string }[] {
    const fonts = this.fonts[style.weight];
    let current = fonts[0];
    let isFirst = true;
    return Array.from(text, (character) => {
      if (ISOLATE.test(character)) return { character, font: current, printed: '' };
      const codePoint = character.codePointAt(0) ?? 0;
      const has = ({ font }: PrintFont): boolean => font.hasGlyphForCodePoint(codePoint);
      // Spaces, marks and punctuation keep the font of the character before them, if that font has them. All other
      // characters use the first font that has them.
      const sticks = !isFirst && /[\p{M}\p{P}\p{Z}\p{Cf}]/u.test(character) && has(current);
      const font = sticks ? current : fonts.find(has);
      // Format characters and variation selectors without a glyph print nothing, and are not reported as missing.
      if (font === undefined && /[\p{Cf}\u{fe00}-\u{fe0f}]/u.test(character)) {
        return { character, font: current, printed: '' };
      }
      isFirst = false;
      current = font ?? fonts[0];
      return { character, font: current, printed: font === undefined ? REPLACEMENT : character };
    });
  }
}

/** Returns true if the font itself reverses the glyphs of the text, so that the caller must not reverse the text. */
function shapesFromRight({ font }: PrintFont, text: string): boolean {
  return isRightToLeft(text) && font.layout(text, []).direction === 'rtl';
}

/**
 * Returns options that make pdfkit shape right-to-left text as a whole. By default pdfkit shapes each word separately,
 * which reverses the order of the words. Any list of features, even an empty one, prevents this.
 */
function shapingOf(text: string): { features?: [] } {
  return isRightToLeft(text) ? { features: [] } : {};
}

function readFurtherFont(path: string): PrintFont {
  try {
    return readFont(path, path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`INVOICE_FONTS names ${path}, which cannot be read: ${reason}`);
  }
}

function readFont(name: string, path: string): PrintFont {
  const font = create(readFileSync(path));
  if (!('characterSet' in font)) {
    throw new Error(
      'it is a collection of fonts. Extract the one that is wanted into a file of its own.',
    );
  }
  return { name, font };
}
