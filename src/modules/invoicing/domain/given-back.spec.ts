import { USAGE_ALONE } from '../../../../test/support/reference/catalog';
import { Reference } from '../../../../test/support/reference/model';
import { maxCreditable } from './given-back';

const WEEK_MS = 7 * 86_400_000;

describe('how much of an invoice may still be credited', () => {
  it.each([
    ['a refund without a note', 40n, 0n, 0n, 60n],
    ['a refund beyond a note', 40n, 30n, 0n, 90n],
    ['refunds of more than is left', 140n, 0n, 0n, 0n],
    ['used credit that was lost', 0n, 0n, 10n, 90n],
    ['a refund that only pays out a note', 30n, 30n, 0n, null],
    ['no refund yet of a note', 0n, 30n, 0n, null],
  ])('after %s', (_, moneyMinor, toRefundMinor, creditMinor, left) => {
    const held = { heldMinor: 100n, toRefundMinor, paidMinor: 200n };
    expect(maxCreditable(held, { moneyMinor, creditMinor })).toBe(left);
  });
});

/** A call at 13.25 minor units with 19 % tax on top, and another one of the same week that comes late. */
it('the reference gives back all of the usage that two invoices billed and nothing refunded', () => {
  const start = Date.parse('2026-03-02T00:00:00Z');
  const model = new Reference(start, 'UTC', { taxes: [0], exemption: 'none', credits: [] }, 0);
  const terms = model.offers.forNew({ plan: USAGE_ALONE, quantity: 1, addons: [] });
  if (typeof terms === 'string') throw new Error(terms);
  model.subscribe(terms, start, 'anniversary', 0, null, false);
  for (const week of [1, 2]) {
    model.usage.report(start, 10n, null);
    model.advance(start + week * WEEK_MS);
  }
  for (const event of model.usage.events) model.usage.void(event);
  model.advance(start + 3 * WEEK_MS);
  const amounts = model.invoices.map(({ subtotal, tax }) => [subtotal, tax]);
  expect(amounts).toEqual([
    [13n, 2n],
    [14n, 3n],
    [-27n, -5n],
  ]);
});
