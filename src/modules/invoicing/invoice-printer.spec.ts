import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration, ConfigurationError } from '../../platform/config';
import type { InvoiceDocument } from './domain/document/invoice-document';
import { InvoicePrinter } from './invoice-printer';

const NOTO_SANS = '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf';

/** A collection (TTC) with one font in it: offsets count from the start of the file. */
function collectionOf(font: Buffer): Buffer {
  const header = Buffer.from('ttcf\0\x01\0\0\0\0\0\x01\0\0\0\x10', 'latin1');
  const moved = Buffer.from(font);
  for (let table = 0; table < font.readUInt16BE(4); table += 1) {
    const at = 12 + 16 * table + 8;
    moved.writeUInt32BE(font.readUInt32BE(at) + header.length, at);
  }
  return Buffer.concat([header, moved]);
}

const printer = new InvoicePrinter(new Configuration({}));

const documentOf = (fields: Partial<InvoiceDocument> = {}): InvoiceDocument => ({
  title: 'Invoice INV-000042',
  fileName: 'INV-000042',
  createdAt: new Date('2026-03-01T00:00:00.000Z'),
  stamp: 'PAID',
  seller: { name: 'Analytical Engines', details: [] },
  buyer: { name: 'Ada Lovelace', details: [] },
  details: [],
  currency: 'EUR',
  lines: [],
  totals: [{ label: 'Total', amount: '0.00', weight: 'strong' }],
  notes: [],
  ...fields,
});

const print = async (document: InvoiceDocument): Promise<Buffer> =>
  (await printer.print(document)).bytes;

const named = (name: string): InvoiceDocument => documentOf({ buyer: { name, details: [] } });

describe('a printed invoice', () => {
  it('is a PDF with its fonts in it, dated by the invoice', async () => {
    const text = (await print(documentOf())).toString('latin1');
    expect(text).toMatch(/^%PDF-1\.\d/);
    expect(text).toContain('D:20260301000000Z');
    expect(text).toMatch(/\/BaseFont \/[A-Z]{6}\+NotoSans-Bold/);
    expect(text).toContain('/FontFile2');
    expect(text.trimEnd()).toMatch(/%%EOF$/);
  });

  it('is the same bytes every time, and others for another invoice', async () => {
    const first = await print(documentOf());
    expect((await print(documentOf())).equals(first)).toBe(true);
    expect((await print(named('Charles Babbage'))).equals(first)).toBe(false);
  });

  it.each([
    ['Greek', 'Αλέξανδρος'],
    ['Cyrillic', 'Щербаков Ёлкин'],
    ['accents', 'Łódź Ærøskøbing İstanbul Đăng'],
    ['Devanagari', 'सदस्यता'],
    ['scripts that the font lacks', '株式会社 شركة ไทย'],
    ['emoji, joined', '👩\u200d👩\u200d👧'],
    ['nothing', ''],
  ])('prints %s', async (_, name) => {
    const bytes = await print(named(name));
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('shows one sign of replacement for each character that no font has', async () => {
    const missing = await print(named('株式'));
    expect(missing.equals(await print(named('\ufffd\ufffd')))).toBe(true);
  });

  it('says which characters no font has', async () => {
    const lines = documentOf({ notes: ['שלום, Ada'], buyer: { name: '株a株', details: [] } });
    const { missing } = await printer.print(lines);
    expect([...missing].sort().join('')).toBe([...'שלום株'].sort().join(''));
    expect((await printer.print(documentOf())).missing.size).toBe(0);
  });

  it('a collection of fonts stops the start and is named', () => {
    const directory = mkdtempSync(join(tmpdir(), 'fonts-'));
    const path = join(directory, 'fonts.ttc');
    const font = readFileSync(require.resolve(NOTO_SANS));
    writeFileSync(path, collectionOf(font));
    const configuration = new Configuration({ INVOICE_FONTS: path });
    expect(() => new InvoicePrinter(configuration)).toThrow(ConfigurationError);
    expect(() => new InvoicePrinter(configuration)).toThrow(/fonts\.ttc.* collection of fonts/);
    rmSync(directory, { recursive: true });
  });

  it('a further font that cannot be read stops the start and is named', () => {
    for (const path of ['/no/such/font.ttf', __filename]) {
      const configuration = new Configuration({ INVOICE_FONTS: path });
      expect(() => new InvoicePrinter(configuration)).toThrow(ConfigurationError);
      expect(() => new InvoicePrinter(configuration)).toThrow(path);
    }
  });
});
