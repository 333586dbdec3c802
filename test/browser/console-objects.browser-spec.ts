import type { Locator, Page } from 'playwright-core';
import { type PageFaults, untilQuiet, violationsOf } from '../support/browser';
import type { ConsoleStory, ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole } from '../support/running-console';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

const START = '2026-03-01T00:00:00Z';
/** Marks an advance as interrupted: its process has died, and its lease is over. */
const INTERRUPT = `UPDATE test_clock SET status = 'advancing', target_at = $2,
  lease_ends_at = now() - interval '1 hour', leased_by = NULL WHERE id = $1`;

interface Line {
  readonly id: string;
  readonly description: string;
  readonly amount: number;
}

interface InvoiceList {
  readonly data: readonly { readonly id: string; readonly lines: readonly Line[] }[];
}

describe('what pages of the console say of an object', () => {
  let engine: RunningConsole;
  let teller: ConsoleStoryTeller;
  let story: ConsoleStory;
  let page: Page;
  let faults: PageFaults;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ teller } = engine);
    story = await teller.create(engine.receiverUrl);
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults.found.splice(0)).toEqual([]);
  });

  const card = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const toast = (text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  /** Returns the steps that "Why?" shows for the line of a customer with this text in its description. */
  async function stepsOf(
    customer: string,
    description: string,
    amount: number,
  ): Promise<readonly string[]> {
    const { data } = (await teller.get(`invoices?customer_id=${customer}`)) as InvoiceList;
    const has = (line: Line): boolean =>
      line.description.includes(description) && line.amount === amount;
    const invoice = data.find(({ lines }) => lines.some(has));
    const line = invoice?.lines.find(has);
    if (line === undefined) throw new Error(`There is no line ${description}.`);
    await engine.open(page, `/invoices/${invoice?.id ?? ''}?line=${line.id}`);
    await page.getByText('Computed again just now').waitFor();
    const why = page.getByRole('region', { name: /^Why/ });
    return (await why.locator('ol > li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  }

  describe('a test clock', () => {
    it('is that its interrupted advance can be continued', async () => {
      const { id } = await teller.post('test-clocks', { name: 'Interrupted', now: START });
      await engine.query(INTERRUPT, [id, '2026-04-01T00:00:00Z']);
      await engine.open(page, `/test-clocks/${id}`);
      expect(await button('Advance…').count()).toBe(0);
      await button('Continue…').click();
      await page.getByText('To Apr 1, 2026, 12:00 AM UTC.').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await button('Continue').click();
      await toast('It is Apr 1, 2026, 12:00 AM UTC.');
      await button('Advance…').waitFor();
      expect(await teller.get(`test-clocks/${id}`)).toMatchObject({ status: 'ready' });
    });

    it('is that a failed one can only be deleted', async () => {
      const { id } = await teller.post('test-clocks', { name: 'Failed', now: START });
      await engine.query(`UPDATE test_clock SET status = 'failed', target_at = $2 WHERE id = $1`, [
        id,
        '2026-04-01T00:00:00Z',
      ]);
      await engine.open(page, `/test-clocks/${id}`);
      await page.getByText('can no longer be advanced, only deleted').waitFor();
      expect(await button('Advance…').isDisabled()).toBe(true);
    });

    it('is its present next event after an advance by another caller', async () => {
      const { id } = await teller.post('test-clocks', { name: 'Shared', now: START });
      const customer_id = await teller.customer('Shared', id);
      await teller.post('subscriptions', { customer_id, plan_id: story.plan });
      const other = await engine.signIn('owner@example.com');
      const own = other.page;
      await own.clock.install();
      await engine.open(own, `/test-clocks/${id}`);
      const value = (term: string): Locator => own.locator('dt', { hasText: term }).locator('+ dd');
      await value('Next event').getByText('2026').waitFor();
      await engine.query(INTERRUPT, [id, '2026-06-15T00:00:00Z']);
      // What was read is read again by a window that gets the focus after ten seconds.
      await own.clock.fastForward(11_000);
      await own.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
      await own.getByText('advancing', { exact: true }).waitFor();
      await untilQuiet(own);
      await teller.post(`test-clocks/${id}/advance`, { to: '2026-06-15T00:00:00Z' });
      await value('Its time').getByText('Jun 15, 2026').waitFor();
      await value('Next event').getByText('Jul 1, 2026').waitFor();
      await other.close();
    });

    it('is what happened at its target, once an advance to exactly due work is done', async () => {
      const { id } = await teller.post('test-clocks', { name: 'Exact', now: START });
      const customer_id = await teller.customer('Exact', id);
      await teller.post('subscriptions', { customer_id, plan_id: story.plan });
      await teller.advance(id, '2026-03-15T00:00:00Z');
      const { due_at: to } = (await teller.get(`test-clocks/${id}/next`)) as { due_at: string };
      expect(to).toBe('2026-04-01T00:00:00.000Z');
      await engine.query(INTERRUPT, [id, to]);
      await engine.open(page, `/test-clocks/${id}`);
      let reads = 0;
      await page.route('**/v1/events?**', (route) => {
        reads += 1;
        return route.continue();
      });
      // The clock moves to the target before the work at the target is done.
      await engine.query('UPDATE test_clock SET instant = target_at WHERE id = $1', [id]);
      await card('Overview').locator('dd').first().getByText('Apr 1, 2026').waitFor();
      await untilQuiet(page);
      expect(reads).toBe(0);
      await teller.post(`test-clocks/${id}/advance`, { to });
      await card('Timeline').getByText('Apr 1, 2026').first().waitFor();
      await untilQuiet(page);
      expect(reads).toBe(1);
    });
  });

  it('are all terms that decide a price, and the plans of a coupon', async () => {
    const { id: meter_id } = await teller.post('meters', {
      key: 'volume',
      name: 'Volume',
      event_name: 'volume',
      aggregation: 'sum',
      value_property: 'amount',
      group_by: ['region'],
    });
    const usage = { timing: 'in_arrears', meter_id };
    const { id: plan } = await teller.post('plans', {
      code: 'terms',
      name: 'Terms',
      currency: 'USD',
      interval: 'month',
      prices: [
        {
          ...usage,
          name: 'Packs',
          model: 'package',
          unit_amount: '1000',
          package_size: '100',
          free_units: '5000',
          minimum_amount: 700,
        },
        {
          ...usage,
          name: 'Fee',
          model: 'percentage',
          rate: '0.029',
          fixed_amount: 30,
          free_units: '3',
          free_amount: 100_000,
          event_minimum_amount: 50,
          event_maximum_amount: 500,
        },
        { ...usage, name: 'Free money', model: 'percentage', rate: '0.01', free_amount: 100_000 },
        { ...usage, name: 'Free events', model: 'percentage', rate: '0.02', free_units: '3' },
        { ...usage, name: 'Nothing free', model: 'percentage', rate: '0.03' },
        { ...usage, name: 'Grouped', model: 'per_unit', unit_amount: '2', by_group: true },
        {
          ...usage,
          name: 'Tiered',
          model: 'graduated',
          charge_flat_at_zero: false,
          tiers: [{ up_to: null, unit_amount: '1', flat_amount: 500 }],
        },
      ],
    });
    await engine.open(page, `/plans/${plan}`);
    const terms = await card('Prices').locator('tbody td:last-child').allInnerTexts();
    expect(terms).toEqual([
      '1000 each; for each 100; 5000 units free; at least $7.00 a period',
      '0.029 of the amount; $0.30 for each event; at least $0.50 for each event; ' +
        'at most $5.00 for each event; free until 3 events or $1,000.00 are used up, whichever is first',
      '0.01 of the amount; $1,000.00 free',
      '0.02 of the amount; 3 events free',
      '0.03 of the amount',
      '2 each; each group by itself',
      'beyond: 1 each + $5.00; no flat amount at a quantity of 0',
    ]);
    const coupon = { code: 'TERMS', type: 'percent', percent_off: '50', duration: 'forever' };
    const { id } = await teller.post('coupons', { ...coupon, plan_ids: [plan] });
    await engine.open(page, `/coupons/${id}`);
    await card('Overview').getByRole('link', { name: plan }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('are the steps to the amounts of late usage, of a minimum and of a credit', async () => {
    const late = { name: 'Late', event_name: 'late', aggregation: 'count' };
    const { id: meter_id } = await teller.post('meters', { ...late, key: 'late' });
    const calls = { model: 'per_unit', timing: 'in_arrears', meter_id };
    const { id: plan_id } = await teller.post('plans', {
      code: 'late',
      name: 'Late',
      currency: 'USD',
      interval: 'month',
      prices: [
        { ...calls, name: 'Calls', unit_amount: '100' },
        { ...calls, name: 'Least', unit_amount: '3', minimum_amount: 5_000 },
        { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 },
      ],
    });
    const { id: clock } = await teller.post('test-clocks', { name: 'Late', now: START });
    const customer_id = await teller.customer('Lately', clock);
    const subscription = await teller.post('subscriptions', { customer_id, plan_id });
    const report = (key: string): Promise<unknown> =>
      teller.post('usage-events', {
        idempotency_key: key,
        customer_id,
        event_name: 'late',
        timestamp: '2026-03-01T12:00:00Z',
      });
    for (const key of ['l1', 'l2', 'l3', 'l4', 'l5']) await report(key);
    await teller.advance(clock, '2026-04-05T00:00:00Z');
    await report('l6');
    await teller.advance(clock, '2026-05-16T00:00:00Z');
    const cancel = { when: 'now', credit_unused: true };
    await teller.post(`subscriptions/${subscription.id}/cancel`, cancel);
    const steps = (description: string, amount: number): Promise<readonly string[]> =>
      stepsOf(customer_id, description, amount);
    expect(await steps('Calls (late usage)', 100)).toEqual([
      'Price Calls.',
      'Usage of the meter late, count of its events, Mar 1, 2026 to Mar 31, 2026 (UTC).',
      '6 events: quantity 6. Units: 6 × 100 (minor units)',
      'Late usage: the period costs $6.00 now. $5.00 was billed before, for a quantity of 5. The difference is $1.00.',
      'The line is $1.00; discount $0.00, tax $0.00.',
      'Computed again just now: ✓ equals the stored $1.00.',
    ]);
    expect(await steps('Least (minimum)', 4_985)).toEqual([
      'Price Least.',
      'Without a limit, $0.15 is billed. The minimum is $50.00.',
      'Exactly 4985 minor units, rounded once to $49.85; discount $0.00, tax $0.00.',
      'Computed again just now: ✓ equals the stored $49.85.',
    ]);
    expect((await steps('Base', -1_452)).slice(1, -1)).toEqual([
      'The credited line, with its minimum or maximum, is $30.00. Less a discount of $0.00 and $0.00 credited before, $30.00 is left.',
      'Of this, the unused share is credited: 15 of the 31 days that were billed.',
      'The line is -$14.52; discount $0.00, tax $0.00.',
    ]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('are the steps to a credit of what a discount and a minimum left, and of the rest of a period', async () => {
    const seat = { name: 'Seat', model: 'per_unit', timing: 'in_advance', unit_amount: '1000' };
    const terms = { currency: 'USD', interval: 'month' };
    const { id: plan_id } = await teller.post('plans', {
      ...terms,
      code: 'least',
      name: 'Least',
      prices: [{ ...seat, minimum_amount: 4_000 }],
    });
    const { id: larger } = await teller.post('plans', {
      ...terms,
      code: 'larger',
      name: 'Larger',
      prices: [{ name: 'Large', model: 'flat', timing: 'in_advance', amount: 6_000 }],
    });
    const half = { type: 'percent', percent_off: '50', duration: 'once' };
    await teller.post('coupons', { ...half, code: 'HALF' });
    const { id: clock } = await teller.post('test-clocks', { name: 'Least', now: START });
    const customer_id = await teller.customer('Leastly', clock);
    const subscription = await teller.post('subscriptions', {
      customer_id,
      plan_id,
      coupon: 'HALF',
    });
    await teller.advance(clock, '2026-03-11T00:00:00Z');
    const path = `subscriptions/${subscription.id}`;
    await teller.post(`${path}/change`, { plan_id: larger, when: 'now', proration: 'prorate' });
    await teller.advance(clock, '2026-03-17T00:00:00Z');
    await teller.post(`${path}/cancel`, { when: 'now', credit_unused: true });
    expect((await stepsOf(customer_id, 'Seat', -1_355)).slice(1, -2)).toEqual([
      'The credited line, with its minimum or maximum, is $40.00. Less a discount of $20.00 and $0.00 credited before, $20.00 is left.',
      'Of this, the unused share is credited: 21 of the 31 days that were billed.',
    ]);
    expect((await stepsOf(customer_id, 'Large', -1_807)).slice(1, -2)).toEqual([
      'The credited line, with its minimum or maximum, is $40.65. Less a discount of $13.55 and $0.00 credited before, $27.10 is left.',
      'Of this, the unused share is credited: 14 of the 21 days that were billed.',
    ]);
  });

  it.each([
    ['was cut off', [], 'cut off'],
    ['ends with a problem', [{ type: 'problem', detail: 'Too many prices.' }], 'Too many prices.'],
  ])('is no result of a simulation that %s', async (_, end, shown) => {
    const { customer: customer_id } = story;
    const amounts = { old_amount: 100_000, new_amount: 200, difference: -99_800 };
    const lines = [
      { type: 'customer', customer_id, ...amounts },
      { type: 'progress', customers: 50, of: 4_000 },
      ...end,
    ];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await page.route('**/v1/prices/simulations', (route) =>
      route.fulfill({ contentType: 'application/x-ndjson', body }),
    );
    await engine.open(page, '/simulations');
    await button('Run').click();
    await page.getByRole('alert').filter({ hasText: shown }).waitFor();
    expect(await page.getByText('Most affected').count()).toBe(0);
    expect(await page.getByText('of 4,000 customers').count()).toBe(0);
  });

  it('is that a payment method can no longer be charged, and when a card expires', async () => {
    const { id: customer } = await teller.post('customers', { name: 'Stolen Card Ltd' });
    const method = { provider: 'sandbox', token: 'pm_sandbox_ok', is_default: true };
    const { id } = await teller.post(`customers/${customer}/payment-methods`, method);
    await engine.query(
      `UPDATE payment_method SET unusable_since = $2, unusable_reason = 'card_stolen',
        expiry_month = 4, expiry_year = 2031 WHERE id = $1`,
      [id, START],
    );
    await engine.open(page, `/customers/${customer}`);
    const row = card('Payment methods').locator('tbody tr');
    await row.getByText('Unusable since Mar 1, 2026, 12:00 AM UTC: card stolen').waitFor();
    await row.getByText('4/2031').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('is the usage of each of more than 100 meters', async () => {
    for (let number = 0; number <= 100; number += 1) {
      const key = `many_${number}`;
      await teller.post('meters', { key, name: key, event_name: key, aggregation: 'count' });
    }
    await engine.open(page, `/customers/${story.customer}`);
    const meter = card('Usage').getByLabel('Meter', { exact: true });
    await meter.selectOption('API calls');
    await untilQuiet(page);
    expect(await meter.inputValue()).toBe(story.meter);
  });

  it('is the present end of the session', async () => {
    await engine.open(page, '/settings');
    await engine.show(page, '/customers');
    await page.route('**/v1/session', async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as object;
      await route.fulfill({ response, json: { ...session, ends_at: '2031-05-01T00:00:00Z' } });
    });
    await engine.show(page, '/settings');
    await card('Your session').getByText('May 1, 2031').waitFor();
  });

  it('is changed behind a proxy that compresses some answers, and appends -gzip to their tags', async () => {
    const path = `subscriptions/${story.subscription}`;
    await page.route(`**/v1/${path}`, async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      const etag = headers['etag']?.replace(/"$/, '-gzip"') ?? '';
      await route.fulfill({ response, headers: { ...headers, etag } });
    });
    await engine.open(page, `/${path}`);
    await button('Pause…').click();
    await page.getByLabel('Preview of the invoice').waitFor();
    await button('Pause').click();
    await toast('Done: pause.');
  });
});
