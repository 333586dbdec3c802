import { Configuration, ConfigurationError } from '../../platform/config';
import type { InvoiceDocument } from './domain/document/invoice-document';
import { InvoicePrinter } from './invoice-printer';

const printer = new InvoicePrinter(new Configuration({}));

const documentOf = (fields: Partial<InvoiceDocument> = {}): InvoiceDocument => ({
  title: 'Invoice INV-000042',
  fileName: 'INV-000042',
  createdAt: new Date('2026-03-01T00:00:00.000Z'),
  stamp: 'PAID',
  seller: { name: 'Analytical Engines', details: [] },
  buyer: { name: 'Ada Lovelace', details: [] },
  facts: [],
  currency: 'EUR',
  lines: [],
  totals: [{ label: 'Total', amount: '0.00', weight: 'strong' }],
  notes: [],
  ...fields,
});

const named = (name: string): InvoiceDocument => documentOf({ buyer: { name, details: [] } });

describe('a printed invoice', () => {
  it('is a PDF with its fonts in it, dated by the invoice', async () => {
    const text = (await printer.print(documentOf())).toString('latin1');
    expect(text).toMatch(/^%PDF-1\.\d/);
    expect(text).toContain('D:20260301000000Z');
    expect(text).toMatch(/\/BaseFont \/[A-Z]{6}\+NotoSans-Bold/);
    expect(text).toContain('/FontFile2');
    expect(text.trimEnd()).toMatch(/%%EOF$/);
  });

  it('is the same bytes every time, and others for another invoice', async () => {
    const first = await printer.print(documentOf());
    expect((await printer.print(documentOf())).equals(first)).toBe(true);
    expect((await printer.print(named('Charles Babbage'))).equals(first)).toBe(false);
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
    const bytes = await printer.print(named(name));
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('shows one sign of replacement for each character that no font has', async () => {
    const missing = await printer.print(named('株式'));
    expect(missing.equals(await printer.print(named('\ufffd\ufffd')))).toBe(true);
  });

  it('a further font that cannot be read stops the start and is named', () => {
    for (const path of ['/no/such/font.ttf', __filename]) {
      const configuration = new Configuration({ INVOICE_FONTS: path });
      expect(() => new InvoicePrinter(configuration)).toThrow(ConfigurationError);
      expect(() => new InvoicePrinter(configuration)).toThrow(path);
    }
  });
});
