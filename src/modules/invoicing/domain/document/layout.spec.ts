import type { Invoice, InvoiceLine } from '../invoice';
import type { Buyer, Seller } from '../invoice-snapshots';
import { toInvoiceDocument } from './invoice-document';
import { layOut } from './layout';
import {
  type DrawingCommand,
  PAGE_HEIGHT_PT,
  PAGE_WIDTH_PT,
  type SheetPage,
  type Typeface,
} from './sheet';
import { wrap } from './wrap';

const SELLER: Seller = {
  name: 'Analytical Engines',
  addressLines: ['12 St James’s Square', 'London'],
  taxId: 'GB 123',
  email: 'billing@example.com',
};
const BUYER: Buyer = {
  name: 'Ada Lovelace',
  email: null,
  addressLines: ['Rue de l’Échiquier 7', '75010 Paris'],
  timezone: 'Europe/Paris',
};
/** March in Paris, in which the clocks change. */
const MARCH = {
  startAt: new Date('2026-02-28T23:00:00.000Z'),
  endAt: new Date('2026-03-31T22:00:00.000Z'),
};

function lineOf(fields: Partial<InvoiceLine> = {}): InvoiceLine {
  return {
    id: 'il_1',
    invoiceId: 'inv_1',
    position: 0,
    kind: 'recurring',
    description: 'Seats',
    quantity: '5',
    unitAmount: '1000',
    amount: 5000n,
    discount: 0n,
    net: 5000n,
    tax: 950n,
    priceId: null,
    itemId: null,
    period: MARCH,
    fullPeriod: MARCH,
    proration: null,
    prorationUnit: 'day',
    timeZone: 'Europe/Paris',
    isInAdvance: true,
    isReleased: false,
    creditsLineId: null,
    credited: 0n,
    creditedNet: 0n,
    creditedTaxShares: [],
    taxRateIds: ['txr_1'],
    taxShares: [],
    discountShares: [],
    trace: { kind: 'fixed', amountMinor: 5000n },
    ...fields,
  };
}

function invoiceOf(fields: Partial<Invoice> = {}): Invoice {
  return {
    id: 'inv_01h455vb4pex5vsknk084sn02q',
    version: 1,
    number: 'INV-000042',
    status: 'open',
    reason: 'renewal',
    customerId: 'cus_1',
    testClockId: null,
    subscriptionId: null,
    reissueOfId: null,
    snapshots: null,
    renewsAt: null,
    currency: 'EUR',
    periodStartAt: MARCH.startAt,
    periodEndAt: MARCH.endAt,
    subtotal: 5000n,
    discount: 0n,
    tax: 950n,
    inclusiveTax: 0n,
    total: 5950n,
    creditApplied: 0n,
    creditedToBalance: 0n,
    amountDue: 5950n,
    amountPaid: 0n,
    amountCredited: 0n,
    amountPending: 0n,
    attemptCount: 0,
    collectAt: null,
    isCollectedWhileUnpaid: false,
    overdueAt: null,
    taxTreatment: 'none',
    taxRates: [
      {
        taxRateId: 'txr_1',
        name: 'VAT',
        percentage: '19.00',
        inclusive: false,
        taxableMinor: 5000n,
        taxMinor: 950n,
      },
    ],
    coupons: [],
    credits: [],
    collection: 'automatic',
    daysUntilDue: 0,
    dueAt: new Date('2026-03-14T23:30:00.000Z'),
    finalizesAt: null,
    requestedLines: null,
    finalizedAt: MARCH.startAt,
    paidAt: null,
    voidedAt: null,
    voidedBy: null,
    uncollectibleAt: null,
    metadata: {},
    createdAt: MARCH.startAt,
    updatedAt: MARCH.startAt,
    lines: [lineOf()],
    ...fields,
  };
}

/** Every character is half as wide as it is high. */
const TYPEFACE: Typeface = { widthOf: (text, { sizePt }) => (text.length * sizePt) / 2 };

type TextCommand = Extract<DrawingCommand, { kind: 'text' }>;

const documentOf = (fields: Partial<Invoice> = {}, buyer: Buyer = BUYER, seller = SELLER) =>
  toInvoiceDocument(invoiceOf(fields), buyer, seller);
const pagesOf = (fields: Partial<Invoice> = {}, buyer: Buyer = BUYER): readonly SheetPage[] =>
  layOut(documentOf(fields, buyer), TYPEFACE);
const textsOn = (page: SheetPage | undefined): readonly TextCommand[] =>
  (page ?? []).filter((command) => command.kind === 'text');
const wordsOn = (page: SheetPage | undefined): readonly string[] =>
  textsOn(page).map(({ text }) => text);
const rightOf = (command: TextCommand): number =>
  command.x + TYPEFACE.widthOf(command.text, command.style);

describe('what an invoice says on paper', () => {
  it('shows dates in the time zone of the customer, and the last day of a period as included', () => {
    const { details, lines } = documentOf();
    expect(details).toEqual([
      { label: 'Number', value: 'INV-000042' },
      { label: 'Date', value: '2026-03-01' },
      { label: 'Due', value: '2026-03-15' },
      { label: 'Period', value: '2026-03-01 \u2013 2026-03-31' },
      { label: 'Currency', value: 'EUR' },
    ]);
    expect(lines[0]?.period).toBe('2026-03-01 \u2013 2026-03-31');
  });

  it('shows all periods in the time zone of the subscription, even if the customer has another one', () => {
    const { details, lines } = documentOf({}, { ...BUYER, timezone: 'America/Los_Angeles' });
    const period = '2026-03-01 \u2013 2026-03-31';
    expect(details).toContainEqual({ label: 'Period', value: period });
    expect(lines[0]?.period).toBe(period);
  });

  it.each([
    ['2026-03-17T10:00:00Z', '2026-04-17T10:00:00Z', '2026-03-17 \u2013 2026-04-16'],
    ['2026-03-17T00:00:00Z', '2026-03-18T00:00:00Z', '2026-03-17'],
    ['2026-03-17T10:00:00Z', '2026-03-17T12:00:00Z', '2026-03-17'],
  ])('a period from %s to %s reads %s', (startAt, endAt, text) => {
    const period = { startAt: new Date(startAt), endAt: new Date(endAt) };
    const { lines } = documentOf({ lines: [lineOf({ period, timeZone: 'UTC' })] });
    expect(lines[0]?.period).toBe(text);
  });

  it('adds up tax by rate, credit and what was paid', () => {
    const { totals } = documentOf({
      status: 'paid',
      discount: 500n,
      creditApplied: 950n,
      amountDue: 5000n,
      amountPaid: 5000n,
    });
    expect(totals.map(({ label, amount }) => [label, amount.replace('\u2212', '-')])).toEqual([
      ['Subtotal', '50.00'],
      ['Discount', '-5.00'],
      ['\u2068VAT\u2069 \u206819%\u2069 on \u206850.00\u2069', '9.50'],
      ['Total', '59.50'],
      ['Credit applied', '-9.50'],
      ['Amount due EUR', '50.00'],
      ['Paid', '-50.00'],
      ['Remaining EUR', '0.00'],
    ]);
  });

  it('tells inclusive tax below the total it is part of', () => {
    const taxRates = invoiceOf().taxRates.map((rate) => ({ ...rate, inclusive: true }));
    const labels = documentOf({ taxRates }).totals.map(({ label }) => label);
    const included = 'includes \u2068VAT\u2069 \u206819%\u2069 on \u206850.00\u2069';
    expect(labels).toEqual(['Subtotal', 'Total', included, 'Amount due EUR']);
  });

  it.each([
    ['reverse', 'Reverse charge: the recipient accounts for the tax.'],
    ['exempt', 'Exempt from tax.'],
  ] as const)('says why there is no tax: %s', (taxTreatment, note) => {
    expect(documentOf({ taxTreatment, taxRates: [] }).notes).toEqual([note]);
  });

  it.each([
    ['of a subscription', 'sub_1', 'unpaid invoices of the subscription, then later invoices'],
    ['without a subscription', null, 'later invoices'],
  ])('says what the credit of a negative invoice %s lowers', (_, subscriptionId, lowered) => {
    const credit = { total: -5950n, creditedToBalance: 5950n, amountDue: 0n, subscriptionId };
    const { totals, notes } = documentOf({ ...credit, status: 'paid' });
    expect(totals).toContainEqual(
      expect.objectContaining({ label: 'Given as credit', amount: '59.50' }),
    );
    expect(notes).toEqual([`The negative total is credit. It lowers ${lowered}.`]);
  });

  it('calls a draft a draft, and its file by its id', () => {
    const draft = documentOf({ number: null, status: 'draft', finalizedAt: null, dueAt: null });
    expect(draft).toMatchObject({
      title: 'Draft invoice',
      fileName: 'inv_01h455vb4pex5vsknk084sn02q',
      stamp: null,
    });
    expect(draft.details[0]).toEqual({ label: 'Number', value: 'Draft' });
  });

  it('a name cannot break out of its line or of the file name', () => {
    const document = documentOf(
      { number: 'A/1"\r\nX' },
      { ...BUYER, name: 'Ada\u0000\n Love\ud800' },
    );
    expect(document.fileName).toBe('A-1---X');
    expect(document.buyer.name).toBe('Ada Love\ufffd');
  });
});

describe('the layout of an invoice', () => {
  it('puts one line on one page, with a stamp once it is paid', () => {
    const [page, ...others] = pagesOf({ status: 'paid', paidAt: MARCH.startAt });
    expect(others).toEqual([]);
    expect(wordsOn(page)).toEqual(
      expect.arrayContaining(['Analytical Engines', 'Ada Lovelace', 'Seats', 'PAID', '1 / 1']),
    );
    expect(page?.filter(({ kind }) => kind === 'frame')).toHaveLength(1);
    expect(wordsOn(pagesOf()[0])).not.toContain('PAID');
  });

  it('is the same every time', () => {
    expect(pagesOf()).toEqual(pagesOf());
  });

  it('breaks a long table over pages, repeats the headings and counts the pages', () => {
    const lines = Array.from({ length: 120 }, (_, index) =>
      lineOf({ description: `Seats of team ${index}` }),
    );
    const pages = pagesOf({ lines, status: 'void' });
    expect(pages.length).toBeGreaterThan(2);
    pages.forEach((page, index) => {
      const words = wordsOn(page);
      expect(words).toContain('Description');
      expect(words).toContain(`${index + 1} / ${pages.length}`);
      if (index > 0) expect(words[0]).toBe('Invoice INV-000042 \u00b7 VOID');
    });
    const rows = pages.flatMap(wordsOn).filter((text) => text.startsWith('Seats of team'));
    expect(rows).toEqual(lines.map(({ description }) => description));
  });

  it.each([
    ['one', 1],
    ['many', 60],
  ])('keeps %s lines within the margins, no two texts above each other', (_, count) => {
    const long = 'word '.repeat(40) + 'x'.repeat(200);
    const lines = Array.from({ length: count }, () =>
      lineOf({ description: long, quantity: '1'.repeat(40), discount: 1n, amount: 10n ** 15n }),
    );
    const buyer = { ...BUYER, name: 'Wolfeschlegelsteinhausenbergerdorff'.repeat(4) };
    for (const page of pagesOf({ lines, number: 'N'.repeat(60) }, buyer)) {
      for (const command of textsOn(page)) {
        expect(command.x).toBeGreaterThanOrEqual(48 - 0.01);
        expect(rightOf(command)).toBeLessThanOrEqual(PAGE_WIDTH_PT - 48 + 0.01);
        expect(command.y).toBeLessThanOrEqual(PAGE_HEIGHT_PT - 48);
      }
      for (const baseline of new Set(textsOn(page).map(({ y }) => y))) {
        const ordered = textsOn(page)
          .filter(({ y }) => y === baseline)
          .toSorted((one, other) => one.x - other.x);
        ordered.slice(1).forEach((text, index) => {
          const before = ordered[index];
          expect(before === undefined ? 0 : rightOf(before)).toBeLessThanOrEqual(text.x + 0.01);
        });
      }
    }
  });

  const wordsOf = (name: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${name}${index}`).join(' ');
  const LONG_ADDRESS = ['line1', 'line2', 'city', 'state'].map((part) => wordsOf(part, 55));

  it.each([
    ['buyer', 1],
    ['buyer', 12],
    ['seller', 1],
    ['seller', 3],
    ['seller', 12],
  ] as const)(
    'prints a long address of the %s (× %d) above the foot of the pages',
    (who, times) => {
      const addressLines = Array.from({ length: times }, () => LONG_ADDRESS).flat();
      const document =
        who === 'buyer'
          ? documentOf({ status: 'paid' }, { ...BUYER, name: wordsOf('name', 30), addressLines })
          : documentOf({ status: 'paid' }, BUYER, { ...SELLER, addressLines });
      const pages = layOut(document, TYPEFACE);
      const foot = PAGE_HEIGHT_PT - 48;
      const printed = pages.flatMap((page) => textsOn(page).filter(({ y }) => y !== foot));
      for (const { y } of printed) expect(y).toBeLessThanOrEqual(foot - 28);
      const { seller, buyer, details } = document;
      const printedNames = [seller, buyer]
        .flatMap((party) => [party.name, ...party.details])
        .join(' ');
      const left = printed.filter(({ x, style }) => x === 48 && style.sizePt > 8);
      expect(left.map(({ text }) => text).join(' ')).toMatch(new RegExp(`^${printedNames} Seats$`));
      const words = printed.map(({ text }) => text);
      expect(words).toEqual(expect.arrayContaining(details.map(({ value }) => value)));
    },
  );

  it('lines figures up at the right', () => {
    const lines = [1n, 5000n, -123_456_789n].map((amount) => lineOf({ amount }));
    const [page] = pagesOf({ lines });
    const figures = ['0.01', '50.00', '\u22121\u202f234\u202f567.89'];
    const rights = textsOn(page)
      .filter(({ text }) => figures.includes(text))
      .map(rightOf);
    expect(rights.length).toBeGreaterThanOrEqual(3);
    for (const right of rights) expect(right).toBeCloseTo(PAGE_WIDTH_PT - 48);
  });

  it('tears a line that is taller than a page, and loses no word of it', () => {
    const description = Array.from({ length: 2000 }, (_, index) => `w${index}`).join(' ');
    const pages = pagesOf({ lines: [lineOf({ description })] });
    expect(pages.length).toBeGreaterThan(1);
    const printed = pages.flatMap(wordsOn).join(' ').split(' ');
    expect(printed.filter((word) => /^w\d+$/.test(word))).toEqual(description.split(' '));
  });

  it('prints the widest figures smaller, so that a description has room beside them', () => {
    const lines = [
      {
        description: 'Storage of the region Europe West',
        period: null,
        quantity: '1,234,567,890,123.123456',
        unitPrice: '0.0000000000001234567',
        discount: '-90,071,992,547,409.91',
        taxRates: '12.3456% + 5.1234% + 2.1234%',
        amount: '90,071,992,547,409.91',
      },
    ];
    const [page, ...others] = layOut({ ...documentOf({}), lines }, TYPEFACE);
    expect(others).toEqual([]);
    expect(wordsOn(page)).toContain('Storage of the region');
    const [quantity] = textsOn(page).filter(({ text }) => text === lines[0]?.quantity);
    expect(quantity?.x).toBeGreaterThanOrEqual(48 + 120);
  });

  it('leaves out columns in which nothing stands', () => {
    const lines = [lineOf({ quantity: null, unitAmount: null })];
    const words = wordsOn(pagesOf({ lines, taxRates: [] })[0]);
    expect(words).toEqual(expect.arrayContaining(['Description', 'Amount']));
    for (const heading of ['Quantity', 'Unit price', 'Discount', 'Tax']) {
      expect(words).not.toContain(heading);
    }
  });
});

describe('wrapping', () => {
  const widthOf = (text: string): number => text.length;

  it.each([
    ['a b c', 5, ['a b c']],
    ['aa bb cc', 5, ['aa bb', 'cc']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['a bcdefgh i', 4, ['a', 'bcde', 'fgh', 'i']],
    ['', 4, ['']],
  ])('%j at %i', (text, width, lines) => {
    expect(wrap(text, width, widthOf)).toEqual(lines);
  });
});
