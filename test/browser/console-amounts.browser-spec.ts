import type { Locator, Page } from 'playwright-core';
import {
  gatewayError,
  loseAnswers,
  type PageFaults,
  refusal,
  untilQuiet,
  violationsOf,
} from '../support/browser';
import type { ConsoleStory, ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole } from '../support/running-console';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

interface StoredInvoice {
  readonly id: string;
  readonly lines: readonly { readonly id: string }[];
}

describe('amounts and dates in the console', () => {
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

  afterEach(() => {
    expect(faults.found.splice(0)).toEqual([]);
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (name: RegExp): Locator => page.getByRole('dialog', { name });

  const credit = (invoice: StoredInvoice, amount: number): Promise<unknown> =>
    teller.post('credit-notes', {
      invoice_id: invoice.id,
      lines: [{ invoice_line_id: invoice.lines[0]?.id, amount }],
      reason: 'Goodwill',
      settle: 'credit',
    });

  /** Creates a finalized invoice of 10.00 USD that waits for its payment. */
  async function openInvoice(customer: string): Promise<StoredInvoice> {
    const { id } = await teller.post('invoices', {
      customer_id: customer,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount: 1_000 }],
    });
    await teller.post(`invoices/${id}/finalize`, {});
    return (await teller.get(`invoices/${id}`)) as StoredInvoice;
  }

  /** Pays an invoice, and returns the id of the payment. */
  async function pay({ id }: StoredInvoice): Promise<string> {
    const body = { provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' };
    return (await teller.post(`invoices/${id}/pay`, body)).id;
  }

  /** Sends the open form, loses the answer, and sends the form again once the page has read everything again. */
  async function repeatAfterLostAnswer(path: string, label: string): Promise<void> {
    await loseAnswers(page, path);
    await button(label).click();
    await page.getByText('it is not done twice').waitFor();
    await page.unrouteAll();
    await untilQuiet(page);
    expect(await page.getByText('At most').count()).toBe(0);
    await button(label).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  async function firstInvoiceOf(customer: string): Promise<StoredInvoice> {
    const id = await teller.newest(`invoices?customer_id=${customer}`);
    return (await teller.get(`invoices/${id}`)) as StoredInvoice;
  }

  it('name what remains where an invoice is collected or written off', async () => {
    const { id } = await teller.post('customers', { name: 'Partly Ltd' });
    const invoice = await openInvoice(id);
    await credit(invoice, 400);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Collect…').click();
    await dialog(/^Collect: INV-\d+, \$6\.00$/).waitFor();
    await button('Close').click();
    await button('Mark as uncollectible…').click();
    await dialog(/^Mark as uncollectible: INV-\d+, \$6\.00$/).waitFor();
    await button('Close').click();
  });

  it('offer to credit what discounts and earlier credit notes left of a line', async () => {
    const customer = await teller.customer('Discounted Ltd', story.clock);
    await teller.post('subscriptions', {
      customer_id: customer,
      plan_id: story.plan,
      coupon: 'SPRING',
    });
    const invoice = await firstInvoiceOf(customer);
    await credit(invoice, 610);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Credit…').click();
    const field = page.getByLabel('Base, of $20.00');
    await field.fill('20.01');
    await page.getByText('At most $20.00.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await field.fill('20.00');
    await page.getByLabel('Reason').fill('Goodwill');
    await button('Credit $20.00 before tax').click();
    await dialog(/^Credit/).waitFor({ state: 'detached' });
    expect(await teller.get(`credit-notes?invoice_id=${invoice.id}`)).toMatchObject({
      data: [{ net: 2_000 }, { net: 610 }],
    });
  });

  it('offer to credit what a rebate left of an invoice, and say in money what cannot be credited', async () => {
    const { id: customer } = await teller.post('customers', { name: 'Rebate Ltd' });
    const { id } = await teller.post('invoices', {
      customer_id: customer,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [
        { description: 'Work \u202eof', amount: 100_000 },
        { description: 'Travel', amount: 5_000 },
        { description: 'Rebate', amount: -10_000 },
      ],
    });
    await teller.post(`invoices/${id}/finalize`, {});
    await engine.open(page, `/invoices/${id}`);
    await button('Credit…').click();
    const work = page.getByLabel(/^Work .*, of \$950\.00$/);
    await page
      .locator('label bdi')
      .filter({ hasText: /^Work \u202eof$/ })
      .waitFor();
    await work.fill('950.00');
    await page.getByLabel('Travel, of $50.00').fill('0.01');
    await page.getByText('All lines together: at most $950.00.').first().waitFor();
    expect(await button('Credit $950.01 before tax').isDisabled()).toBe(true);
    await page.getByLabel('Travel, of $50.00').fill('');
    await page.getByLabel('Reason').fill('Goodwill');
    await page.route('**/v1/credit-notes?*', (route) => route.abort());
    await credit((await teller.get(`invoices/${id}`)) as StoredInvoice, 20_000);
    await button('Credit $950.00 before tax').click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^At most \$(750|800)\.00 .* can still be credited/ })
      .waitFor();
    expect(await page.getByText('minor units').count()).toBe(0);
    await page.unrouteAll();
    await button('Close').click();
  });

  it('are not collected while a pending payment charges all that remains', async () => {
    const customer = await teller.customer('Pending Ltd', story.clock);
    const invoice = await openInvoice(customer);
    const body = { provider: 'sandbox', payment_method_id: 'pm_sandbox_pending' };
    await teller.post(`invoices/${invoice.id}/pay`, body);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Collect…').click();
    await page.getByText('a payment of $10.00 is pending').waitFor();
    expect(await button('Collect').isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
  });

  it('are those that can be refunded when the dialog of a refund opens', async () => {
    const { id } = await teller.post('customers', { name: 'Credited Ltd' });
    const invoice = await openInvoice(id);
    const payment = await pay(invoice);
    await engine.open(page, `/payments/${payment}`);
    await credit(invoice, 600);
    const lines = [{ description: 'Course', amount: 400 }];
    const next = await teller.post('invoices', { customer_id: id, currency: 'USD', lines });
    await teller.post(`invoices/${next.id}/finalize`, {});
    await button('Refund…').click();
    await page
      .getByText('$6.00 of $10.00 can be refunded. More than $4.00 also pays out unused credit')
      .waitFor();
    const field = page.getByLabel('Amount in USD');
    expect(await field.inputValue()).toBe('4.00');
    await field.fill('6.01');
    await page.getByText('At most $6.00 can be refunded.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
    await teller.post(`refunds/payment/${payment}`, { amount: 300 });
    await button('Refund…').click();
    await page.getByText('$3.00 of $10.00 can be refunded.').waitFor();
    expect(await field.inputValue()).toBe('1.00');
    await teller.post(`refunds/payment/${payment}`, { amount: 50 });
    await field.fill('3');
    await button('Refund $3.00').click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^At most \$2\.50 can be refunded\. refund_/ })
      .waitFor();
    await page.getByLabel('With a credit note').check();
    await page.getByLabel('Workshop, of $2.50').waitFor();
    await button('Close').click();
  });

  it('are sent again after a lost answer, though nothing of them is left', async () => {
    const { id } = await teller.post('customers', { name: 'Unclear Ltd' });
    const invoice = await openInvoice(id);
    const payment = await pay(invoice);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Credit…').click();
    await page.getByLabel('Workshop, of $10.00').fill('8');
    await page.getByLabel('Reason').fill('Goodwill');
    await page.getByLabel('Settlement').selectOption('refund');
    await repeatAfterLostAnswer('**/v1/credit-notes', 'Credit $8.00 before tax');
    expect(await teller.get(`credit-notes?invoice_id=${invoice.id}`)).toMatchObject({
      data: [{ net: 800 }],
    });
    await engine.open(page, `/payments/${payment}`);
    await button('Refund…').click();
    await repeatAfterLostAnswer('**/v1/refunds/payment/*', 'Refund $10.00');
    expect(await teller.get(`refunds?payment_id=${payment}`)).toMatchObject({
      data: [{ amount: 1_000 }],
    });
  });

  it('offer to credit a line without the tax within it, and without what a later invoice credited', async () => {
    const rate = { name: 'VAT', percentage: '25', inclusive: true };
    const { id: rateId } = await teller.post('tax-rates', rate);
    const customer = await teller.customer('Inclusive Ltd', story.clock);
    await teller.change('PATCH', `customers/${customer}`, { tax_rate_ids: [rateId] });
    const { id } = await teller.post('subscriptions', {
      customer_id: customer,
      plan_id: story.plan,
    });
    const invoice = await firstInvoiceOf(customer);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Credit…').click();
    await page.getByLabel('Base, of $23.20').waitFor();
    await button('Close').click();
    await teller.post(`subscriptions/${id}/cancel`, { when: 'now', credit_unused: true });
    const { lines } = (await teller.get(
      `invoices/${await teller.newest(`invoices?customer_id=${customer}`)}`,
    )) as { readonly lines: readonly { readonly amount: number; readonly tax: number }[] };
    const credited = lines.reduce((sum, { amount, tax }) => sum - amount + tax, 0);
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Credit…').click();
    await page.getByLabel(`Base, of $${((2_320 - credited) / 100).toFixed(2)}`).waitFor();
    await button('Close').click();
  });

  it('offer to credit what a later invoice left of a line with one tax within it and one added', async () => {
    const rateOf = async (name: string, inclusive: boolean): Promise<string> =>
      (await teller.post('tax-rates', { name, percentage: inclusive ? '20' : '5', inclusive })).id;
    const tax_rate_ids = [await rateOf('Within', true), await rateOf('Added', false)];
    const now = '2026-03-01T00:00:00Z';
    const clock = await teller.post('test-clocks', { name: 'Mixed', now });
    const customer = await teller.customer('Mixed Ltd', clock.id);
    await teller.change('PATCH', `customers/${customer}`, { tax_rate_ids });
    const { id: plan_id } = await teller.post('plans', {
      code: 'mixed',
      name: 'Mixed',
      currency: 'USD',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 9_900 }],
    });
    const { id } = await teller.post('subscriptions', { customer_id: customer, plan_id });
    const invoice = await firstInvoiceOf(customer);
    await teller.advance(clock.id, '2026-03-16T12:00:00Z');
    await teller.post(`subscriptions/${id}/change`, { plan_id: story.plan, when: 'now' });
    await engine.open(page, `/invoices/${invoice.id}`);
    await button('Credit…').click();
    await untilQuiet(page);
    // 99.00 contains 16.50 of tax. The later invoice credited 52.30 with 8.72 of tax in it.
    await page.getByLabel('Base, of $39.92').fill('39.92');
    await page.getByLabel('Reason').fill('All that is left');
    await button('Credit $39.92 before tax').click();
    const done = page
      .getByRole('status')
      .filter({ hasText: /^Credit note \S+: \$49\.\d\d with tax/ });
    await done.waitFor();
  });

  it('preview the steps from the lines of an invoice to its total', async () => {
    const { id: rateId } = await teller.post('tax-rates', { name: 'Sales tax', percentage: '10' });
    const customer = await teller.customer('Taxed Ltd', story.clock);
    await teller.change('PATCH', `customers/${customer}`, { tax_rate_ids: [rateId] });
    const coupon = { type: 'percent', percent_off: '50', duration: 'forever' };
    await teller.post('coupons', { ...coupon, code: 'HALF' });
    const { id } = await teller.post('subscriptions', {
      customer_id: customer,
      plan_id: story.plan,
    });
    await engine.open(page, `/subscriptions/${id}`);
    await button('Redeem…').click();
    await page.getByLabel('Code').fill('HALF');
    const preview = page.getByLabel('Preview of the invoice');
    await preview.getByText('Sales tax 10 %').waitFor();
    const steps = await preview.locator('dl > div').allInnerTexts();
    expect(steps.map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'Subtotal $29.00',
      'Discount -$14.50',
      'Sales tax 10 % $1.45',
      'Total $15.95',
      'Due $15.95',
    ]);
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
  });

  it('explain usage with the dates of the time zone of the customer', async () => {
    const clock = await teller.post('test-clocks', { name: 'Tokyo', now: '2025-12-31T15:00:00Z' });
    const { id: customer } = await teller.post('customers', {
      name: 'Tokyo KK',
      timezone: 'Asia/Tokyo',
      test_clock_id: clock.id,
    });
    await teller.post('subscriptions', { customer_id: customer, plan_id: story.plan });
    await teller.post('usage-events', {
      idempotency_key: 'tokyo',
      customer_id: customer,
      event_name: 'api_call',
      timestamp: '2025-12-31T15:00:00Z',
    });
    await teller.advance(clock.id, '2026-01-31T16:00:00Z');
    const invoice = await firstInvoiceOf(customer);
    await engine.open(page, `/invoices/${invoice.id}`);
    await page.getByRole('link', { name: 'Why? Calls' }).click();
    await page.getByText('Jan 1, 2026 to Jan 31, 2026 (Asia/Tokyo)').waitFor();
  });

  it('are days of the time zone of the customer, as on the PDF of an invoice', async () => {
    const zone = 'Pacific/Kiritimati';
    const now = '2026-12-31T10:00:00Z';
    const clock = await teller.post('test-clocks', { name: 'Kiritimati', now });
    const { id: customer } = await teller.post('customers', {
      name: 'Christmas Island Ltd',
      timezone: zone,
      test_clock_id: clock.id,
    });
    const body = { customer_id: customer, plan_id: story.plan };
    const subscription = await teller.post('subscriptions', body);
    const invoice = await firstInvoiceOf(customer);
    const period = 'Jan 1, 2027 to Jan 31, 2027';
    await engine.open(page, `/invoices/${invoice.id}`);
    const lines = page.getByRole('region', { name: 'Lines, table' });
    await lines.getByRole('columnheader', { name: `Period (${zone})` }).waitFor();
    await lines.getByRole('cell', { name: period, exact: true }).waitFor();
    await page.getByText(`Jan 1, 2027, 12:00 AM (${zone})`).first().waitFor();
    for (const path of [`/subscriptions/${subscription.id}`, `/customers/${customer}`]) {
      await engine.open(page, path);
      await page.getByText(`${period} (${zone})`).waitFor();
      await page.getByText(`Dates in ${zone}`).waitFor();
      const row = page.getByRole('region', { name: 'Invoices, table' }).locator('tbody tr');
      await row.getByRole('cell', { name: period, exact: true }).waitFor();
      await row.getByRole('cell', { name: 'Jan 1, 2027', exact: true }).first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
    }
    await engine.open(page, `/subscriptions?customer_id=${customer}`);
    await page.getByText(`${period} (${zone})`).waitFor();
    await engine.open(page, `/invoices?customer_id=${customer}`);
    await page.getByRole('columnheader', { name: 'Period (UTC)' }).waitFor();
    await page.getByRole('cell', { name: 'Dec 31, 2026 to Jan 30, 2027', exact: true }).waitFor();
  });

  /** Text of the columns Finalized, Due and Period of the only invoice on the page. */
  async function shownDates(): Promise<readonly string[]> {
    const row = page.getByRole('region', { name: 'Invoices, table' }).locator('tbody tr');
    const cells = await row.getByRole('cell').allInnerTexts();
    return [cells[4], cells[5], cells[7]].map((cell) => cell ?? '');
  }

  describe('after the customer has moved to another time zone', () => {
    const period = 'Jan 1, 2027 to Jan 31, 2027';
    let customer: string;
    let subscription: string;
    let invoice: string;

    beforeAll(async () => {
      const now = '2026-12-31T10:00:00Z';
      const clock = await teller.post('test-clocks', { name: 'Move', now });
      customer = (
        await teller.post('customers', {
          name: 'Moved Ltd',
          timezone: 'Pacific/Kiritimati',
          test_clock_id: clock.id,
        })
      ).id;
      const body = { customer_id: customer, plan_id: story.plan };
      subscription = (await teller.post('subscriptions', body)).id;
      invoice = (await firstInvoiceOf(customer)).id;
      await teller.change('PATCH', `customers/${customer}`, { timezone: 'America/New_York' });
    });

    it('are in the same time zones on the pages of the customer and the subscription', async () => {
      for (const path of [`/customers/${customer}`, `/subscriptions/${subscription}`]) {
        await engine.open(page, path);
        await page.getByText('Dates in America/New_York').waitFor();
        expect(await shownDates()).toEqual([
          'Dec 31, 2026',
          'Dec 31, 2026',
          `${period} (Pacific/Kiritimati)`,
        ]);
      }
      await engine.open(page, `/invoices/${invoice}`);
      await page.getByText('Dec 31, 2026, 5:00 AM (America/New_York)').first().waitFor();
      await page.getByRole('columnheader', { name: 'Period (Pacific/Kiritimati)' }).waitFor();
      await page.getByRole('cell', { name: period, exact: true }).waitFor();
    });

    it('are in UTC, which is named, if their subscription is not among the first ones', async () => {
      await page.route('**/v1/subscriptions?*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { data: [], next_cursor: 'more' } });
      });
      await engine.open(page, `/customers/${customer}`);
      expect((await shownDates())[2]).toBe('Dec 31, 2026 to Jan 30, 2027 (UTC)');
      await page.unrouteAll();
    });

    it.each([
      ['Try again later.', refusal(429, 'rate_limited')],
      ['The service answered 404.', gatewayError(404)],
    ])('are not shown in another time zone while theirs gets: %s', async (text, answer) => {
      const refused = new Set([`/v1/customers/${customer}`, `/v1/subscriptions/${subscription}`]);
      await page.route(
        ({ pathname }) => refused.has(pathname),
        (route) => route.fulfill(answer),
      );
      await engine.open(page, `/invoices/${invoice}`);
      await page.getByRole('alert').filter({ hasText: text }).waitFor();
      const overview = page.getByRole('region', { name: 'Overview' }).locator('dl > div');
      const dates = await overview.filter({ hasText: /^(Finalized|Due)/ }).allInnerTexts();
      expect(dates.map((text) => text.replace(/\s+/g, ' '))).toEqual(['Finalized …', 'Due …']);
      await page.getByRole('columnheader', { name: 'Period (…)' }).waitFor();
      expect(await page.getByText('UTC)').count()).toBe(0);
      refused.delete(`/v1/subscriptions/${subscription}`);
      await engine.open(page, `/subscriptions/${subscription}`);
      expect(await shownDates()).toEqual(['…', '…', `${period} (Pacific/Kiritimati)`]);
      refused.clear();
      await button('Try again').click();
      await page.getByText('Dates in America/New_York').waitFor();
      expect((await shownDates())[0]).toBe('Dec 31, 2026');
      await page.unrouteAll();
    });
  });

  it('show nothing as remaining of a void invoice', async () => {
    const { id: customer } = await teller.post('customers', { name: 'Void Ltd' });
    await openInvoice(customer);
    const { id } = await openInvoice(customer);
    await teller.post(`invoices/${id}/void`, {});
    await engine.open(page, `/invoices/${id}?explained=true`);
    await page.getByText('remaining when it was voided $10.00.').waitFor();
    const overview = page.getByRole('region', { name: 'Overview' }).locator('dl > div');
    expect(await overview.filter({ hasText: 'Remaining' }).innerText()).toMatch(/\s–$/);
    await engine.open(page, `/customers/${customer}`);
    const row = page.getByRole('row').filter({ hasText: 'void' });
    expect((await row.getByRole('cell').allInnerTexts()).slice(1, 4)).toEqual([
      'void',
      '$10.00',
      '–',
    ]);
    const totals = (text: string): Promise<void> =>
      page
        .getByRole('status')
        .filter({ hasText: `remaining of finalized invoices, without void ones, ${text}` })
        .waitFor();
    await engine.open(page, `/invoices?customer_id=${customer}`);
    await totals('$10.00');
    const read: string[] = [];
    page.on('request', (request) => read.push(request.url()));
    await engine.open(page, `/invoices?customer_id=${customer}&status=void`);
    expect(read.filter((url) => url.includes('/v1/invoices/summary'))).toHaveLength(1);
    await totals('$0.00');
  });

  it('name a deleted customer without a link', async () => {
    const { id } = await teller.post('customers', { name: 'Gone Ltd' });
    const invoice = await openInvoice(id);
    await teller.change('DELETE', `customers/${id}`);
    await engine.open(page, `/invoices/${invoice.id}`);
    await page.getByText('Gone Ltd (deleted)').waitFor();
    expect(await page.getByRole('link', { name: id }).count()).toBe(0);
  });
});
