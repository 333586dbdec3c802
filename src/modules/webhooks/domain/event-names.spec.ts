import { matchesType, isEventName, unknownNames } from './event-names';

describe('the name of an event', () => {
  it.each([
    '*',
    'invoice.*',
    'invoice.paid',
    'credit_note.issued',
    'a.b',
    'v2_x.y1',
    'invoice',
    'customer.subscription.created',
    'invoice.paid.*',
    'Invoice.paid',
    'invoice-paid',
    'INVOICE_PAID',
  ])('may be %s', (name) => {
    expect(isEventName(name)).toBe(true);
  });

  it.each([
    '',
    '**',
    '*.paid',
    '*.*',
    'invoice.p*',
    'invoice paid',
    ' invoice.paid',
    'invoice.paid\n',
    `invoice.${'x'.repeat(73)}`,
    null,
    7,
  ])('is not %j', (name) => {
    expect(isEventName(name)).toBe(false);
  });

  it.each([
    ['*', 'invoice.paid', true],
    ['invoice.*', 'invoice.paid', true],
    ['invoice.paid', 'invoice.paid', true],
    ['invoice.paid', 'invoice.paid_late', false],
    ['invoice.*', 'invoice_item.created', false],
    ['in.*', 'invoice.paid', false],
  ])('%s matches %s: %s', (name, type, expected) => {
    expect(matchesType(name, type)).toBe(expected);
  });

  it('is unknown when it matches no event type of the catalogue', () => {
    expect(
      unknownNames(
        ['invoice.paidd', '*', 'coupon.*', 'cupon.*', 'coupon.created'],
        ['coupon.created'],
      ),
    ).toEqual(['invoice.paidd', 'cupon.*']);
  });

  it('* is known even with an empty catalogue', () => {
    expect(unknownNames(['*'], [])).toEqual([]);
  });
});
