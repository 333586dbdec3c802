import type { Locator, Page, Route } from 'playwright-core';
import { loseAnswers, type PageFaults, untilQuiet, violationsOf } from '../support/browser';
import type { ConsoleStory, ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole } from '../support/running-console';
import { until } from '../support/until';

/** A subscription and its customer. */
interface Seats {
  readonly id: string;
  readonly customer_id: string;
}

const PREVIEWS = '**/v1/subscriptions/*/*?preview=true';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('what dialogs of the console show before they can be confirmed', () => {
  let engine: RunningConsole;
  let teller: ConsoleStoryTeller;
  let story: ConsoleStory;
  let page: Page;
  let faults: PageFaults;
  let seats: string;
  let betterSeats: string;

  /** Creates a plan with a price for each unit. */
  async function unitPlan(code: string, unit_amount: string): Promise<string> {
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount };
    const terms = { currency: 'USD', interval: 'month', prices: [price] };
    return (await teller.post('plans', { ...terms, code, name: code })).id;
  }

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ teller } = engine);
    story = await teller.create(engine.receiverUrl);
    seats = await unitPlan('seats', '500');
    betterSeats = await unitPlan('better-seats', '1000');
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults.found.splice(0)).toEqual([]);
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (): Locator => page.getByRole('dialog');
  const confirm = (): Locator => dialog().locator('button[type=submit]');
  const toast = (text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  /** Holds requests back until the returned function is called. It sends them or lets them fail, and sends later ones. */
  async function hold(path: string): Promise<(end: 'sent' | 'failed') => Promise<void>> {
    const held: Route[] = [];
    let isWaiting = true;
    await page.route(path, (route) => (isWaiting ? void held.push(route) : route.continue()));
    return async (end) => {
      await until('A request is held', () => Promise.resolve(held.length > 0));
      isWaiting = false;
      for (const route of held) await (end === 'sent' ? route.continue() : route.abort());
    };
  }

  /** Confirms the open dialog without reaching the service, and closes it. */
  async function loseRequest(path: string): Promise<void> {
    await page.route(path, (route) => route.abort());
    await confirm().click();
    await page.getByText('It is not known if this was done').waitFor();
    await page.unrouteAll();
    await untilQuiet(page);
    await button('Close').click();
  }

  /** Creates a finalized invoice of 10.00 USD that waits for its payment. */
  async function openInvoice(customerName: string): Promise<string> {
    const { id } = await teller.post('invoices', {
      customer_id: await teller.customer(customerName, story.clock),
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount: 1_000 }],
    });
    await teller.post(`invoices/${id}/finalize`, {});
    return id;
  }

  it.each([
    ['Cancel…', null],
    ['Pause…', null],
    ['Redeem…', 'SPRING'],
  ])('is the preview of %s', async (name, code) => {
    await engine.open(page, `/subscriptions/${story.subscription}`);
    const answer = await hold(PREVIEWS);
    await button(name).click();
    if (code !== null) await dialog().getByLabel('Code').fill(code);
    await dialog().getByText('Loading…').waitFor();
    expect(await confirm().isDisabled()).toBe(true);
    await answer('sent');
    await page.getByLabel('Preview of the invoice').waitFor();
    expect(await confirm().isEnabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
  });

  it('is a preview that was read since the dialog opened', async () => {
    const choose = async (): Promise<void> => {
      await button('Change…').click();
      await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    };
    await engine.open(page, `/subscriptions/${story.subscription}`);
    await choose();
    await page.getByText(/^Billed at/).waitFor();
    await button('Close').click();
    const answer = await hold(PREVIEWS);
    await choose();
    await dialog().getByText('Loading…').waitFor();
    expect(await page.getByText(/^Billed at/).count()).toBe(0);
    expect(await confirm().isDisabled()).toBe(true);
    await answer('failed');
    await dialog().getByText('The service cannot be reached.').waitFor();
    expect(await page.getByText(/^Billed at/).count()).toBe(0);
    expect(await confirm().isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await button('Try again').click();
    await page.getByText(/^Billed at/).waitFor();
    expect(await confirm().isEnabled()).toBe(true);
    await button('Close').click();
  });

  it('is the first invoice of a new subscription, whose plan and quantity were chosen', async () => {
    await engine.open(page, `/customers/${await teller.customer('Beginner Ltd', story.clock)}`);
    await button('New subscription…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Choose a plan' });
    expect(await confirm().isDisabled()).toBe(true);
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await dialog().getByLabel('Quantity').fill('3');
    await page.getByText(/^Billed at/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await toast('Subscribed.');
    await page.waitForURL('**/subscriptions/sub_*');
  });

  it('is the present plan of a subscription, also if it is archived', async () => {
    const price = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 700 };
    const terms = { currency: 'USD', interval: 'month', prices: [price] };
    const { id: plan } = await teller.post('plans', { ...terms, code: 'legacy', name: 'Legacy' });
    const customer_id = await teller.customer('Legacy Ltd', story.clock);
    const { id } = await teller.post('subscriptions', { customer_id, plan_id: plan });
    await engine.query('UPDATE plan SET archived_at = now() WHERE id = $1', [plan]);
    await engine.open(page, `/subscriptions/${id}`);
    await button('Change…').click();
    await dialog().getByLabel('Plan').waitFor();
    expect(await dialog().getByLabel('Plan').inputValue()).toBe(plan);
    await dialog().getByText('Choose another plan or quantity.').waitFor();
    await button('Close').click();
  });

  /** Subscribes a customer to 2 of `seats` at 5.00 USD, and opens the page. */
  async function openSeats(customerName: string, clock = story.clock): Promise<Seats> {
    const customer_id = await teller.customer(customerName, clock);
    const body = { customer_id, plan_id: seats, quantity: '2' };
    const { id } = await teller.post('subscriptions', body);
    await engine.open(page, `/subscriptions/${id}`);
    return { id, customer_id };
  }

  it('is what is done: a subscription that was changed since is previewed again', async () => {
    const { id, customer_id } = await openSeats('Seats Ltd');
    await button('Change…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'better-seats (better-seats)' });
    await dialog().getByText(': total $10.00, due $10.00.').waitFor();
    await teller.post(`subscriptions/${id}/change`, { when: 'now', quantity: '50' });
    await confirm().click();
    await dialog().getByText('Somebody has changed it since it was shown here.').waitFor();
    await dialog().getByText('Its quantity is now 50.').waitFor();
    await dialog().getByText(': total -$230.00, due $0.00.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await toast('Changed.');
    expect(await teller.get(`subscriptions/${id}`)).toMatchObject({ quantity: '2' });
    const newest = await teller.newest(`invoices?customer_id=${customer_id}`);
    expect(await teller.get(`invoices/${newest}`)).toMatchObject({ total: -23_000 });
  });

  it('is what is done: a change says that somebody has set another quantity before its preview', async () => {
    const { id } = await openSeats('Quantity Ltd');
    await button('Change…').click();
    await untilQuiet(page);
    await teller.post(`subscriptions/${id}/change`, { when: 'now', quantity: '50' });
    const answer = await hold(`**/v1/subscriptions/${id}`);
    await dialog().getByLabel('Plan').selectOption({ label: 'better-seats (better-seats)' });
    await dialog().getByText('Loading…').waitFor();
    expect(await confirm().isDisabled()).toBe(true);
    await answer('sent');
    await dialog()
      .getByText('The subscription has changed since this dialog was opened.')
      .waitFor();
    await dialog().getByText('Its quantity is now 50.').waitFor();
    await dialog().getByText(': total -$230.00, due $0.00.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await toast('Changed.');
    expect(await teller.get(`subscriptions/${id}`)).toMatchObject({ quantity: '2' });
  });

  it('is what is done: a change is to the plan in its field, which somebody has left before its preview', async () => {
    const { id } = await openSeats('Planned Ltd');
    await button('Change…').click();
    await untilQuiet(page);
    const body = { when: 'now', plan_id: betterSeats };
    await teller.post(`subscriptions/${id}/change`, body);
    await dialog().getByLabel('Quantity').fill('10');
    await dialog().getByText('Its quantity is now 2, and it has another plan.').waitFor();
    await dialog().getByText(': total $30.00, due $30.00.').waitFor();
    expect(await dialog().getByLabel('Plan').inputValue()).toBe(seats);
    await confirm().click();
    await toast('Changed.');
    const changed = { plan_id: seats, quantity: '10' };
    expect(await teller.get(`subscriptions/${id}`)).toMatchObject(changed);
  });

  it('is never the preview of another version than the subscription', async () => {
    const { id } = await openSeats('Moving Ltd');
    const answer = await hold(`**/v1/subscriptions/${id}`);
    const readAfterPreview = page.waitForRequest(`**/v1/subscriptions/${id}`);
    await button('Pause…').click();
    await readAfterPreview;
    await teller.post(`subscriptions/${id}/change`, { when: 'now', quantity: '50' });
    await answer('sent');
    await dialog().getByText('The subscription has just changed. Try again.').waitFor();
    expect(await confirm().isDisabled()).toBe(true);
    await button('Try again').click();
    await dialog()
      .getByText('The subscription has changed since this dialog was opened.')
      .waitFor();
    expect(await confirm().isEnabled()).toBe(true);
    const readAgain = page.waitForResponse(`**/v1/subscriptions/${id}`);
    await button('Close').click();
    await readAgain;
  });

  it('is the end of the present period, also if the page is older', async () => {
    const clock = await teller.post('test-clocks', {
      name: 'Renewed',
      now: '2026-03-01T00:00:00Z',
    });
    const { id } = await openSeats('Renewed Ltd', clock.id);
    await teller.advance(clock.id, '2026-04-02T00:00:00Z');
    await button('Cancel…').click();
    await dialog()
      .getByText('The subscription has changed since this dialog was opened.')
      .waitFor();
    const end = dialog().getByLabel('When').locator('option').first();
    expect(await end.innerText()).toBe('At the end of the period, May 1, 2026, 12:00 AM UTC');
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await toast('Ends at May 1, 2026, 12:00 AM UTC.');
    await button('Keep…').click();
    await confirm().click();
    await toast('Done: keep.');
    await teller.post(`subscriptions/${id}/pause`, {});
    await page.reload();
    await untilQuiet(page);
    await teller.post(`subscriptions/${id}/resume`, {});
    await teller.advance(clock.id, '2026-05-02T00:00:00Z');
    await teller.post(`subscriptions/${id}/pause`, {});
    await button('Resume…').click();
    await dialog().getByText('before Jun 1, 2026, 12:00 AM UTC, the paid period').waitFor();
    await button('Close').click();
  });

  it.each(['New subscription…', 'Change…'])(
    'is what is done: %s is previewed again when its plan has a new version',
    async (name) => {
      const prices = (amount: number) => [
        { name: 'Base', model: 'flat', timing: 'in_advance', amount },
      ];
      const code = name === 'Change…' ? 'moved' : 'begun';
      const terms = { currency: 'USD', interval: 'month', code, name: code };
      const plan = await teller.post('plans', { ...terms, prices: prices(10_000) });
      const customer_id = await teller.customer(`Dearer ${code}`, story.clock);
      if (name === 'Change…') {
        const body = { customer_id, plan_id: story.plan };
        const { id } = await teller.post('subscriptions', body);
        await engine.open(page, `/subscriptions/${id}`);
      } else await engine.open(page, `/customers/${customer_id}`);
      await button(name).click();
      await dialog()
        .getByLabel('Plan')
        .selectOption({ label: `${code} (${code})` });
      await page.getByText(/^Billed at/).waitFor();
      const cell = (amount: string): Locator => dialog().getByRole('cell', { name: amount });
      await cell('$100.00').waitFor();
      await teller.post(`plans/${plan.id}/versions`, { prices: prices(99_900) });
      await confirm().click();
      await dialog().getByText('Somebody has changed it since it was shown here.').waitFor();
      await cell('$999.00').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await confirm().click();
      await toast(name === 'Change…' ? 'Changed.' : 'Subscribed.');
      const newest = await teller.newest(`invoices?customer_id=${customer_id}`);
      const { lines } = (await teller.get(`invoices/${newest}`)) as {
        readonly lines: readonly { readonly amount: number }[];
      };
      expect(lines.map(({ amount }) => amount)).toContain(99_900);
    },
  );

  it('repeats a start without a clear answer with the plan version that was sent first', async () => {
    const prices = (amount: number) => [
      { name: 'Base', model: 'flat', timing: 'in_advance', amount },
    ];
    const terms = { currency: 'USD', interval: 'month', code: 'twice', name: 'twice' };
    const plan = await teller.post('plans', { ...terms, prices: prices(10_000) });
    const customer_id = await teller.customer('Twice Ltd', story.clock);
    await engine.open(page, `/customers/${customer_id}`);
    await button('New subscription…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'twice (twice)' });
    await page.getByText(/^Billed at/).waitFor();
    await loseAnswers(page, '**/v1/subscriptions');
    await confirm().click();
    await dialog().getByText('it is not done twice').waitFor();
    await teller.post(`plans/${plan.id}/versions`, { prices: prices(99_900) });
    await page.unrouteAll();
    await button('Close').click();
    await button('New subscription…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'twice (twice)' });
    await dialog().getByText('You sent this before').waitFor();
    await dialog().getByRole('cell', { name: '$999.00' }).waitFor();
    await confirm().click();
    await toast('Subscribed.');
    const { data } = (await teller.get(`invoices?customer_id=${customer_id}`)) as {
      readonly data: readonly { readonly total: number }[];
    };
    expect(data.map(({ total }) => total)).toEqual([10_000]);
  });

  it('does not hinder the repetition of a change whose answer was lost', async () => {
    const customer = await teller.customer('Unclear Ltd', story.clock);
    const body = { customer_id: customer, plan_id: story.plan };
    const { id } = await teller.post('subscriptions', body);
    await engine.open(page, `/subscriptions/${id}`);
    await button('Change…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await page.getByText(/^Billed at/).waitFor();
    await loseAnswers(page, '**/change');
    await confirm().click();
    await dialog().getByText('it is not done twice').waitFor();
    await page.unrouteAll();
    await untilQuiet(page);
    await confirm().click();
    await toast('Changed.');
    const { data } = (await teller.get(`invoices?subscription_id=${id}`)) as {
      readonly data: readonly unknown[];
    };
    expect(data).toHaveLength(2);
  });

  it('is the amount that was confirmed first, when a lost collection is repeated before the new one is shown', async () => {
    const id = await openInvoice('Hasty Ltd');
    const { lines } = (await teller.get(`invoices/${id}`)) as {
      readonly lines: readonly { readonly id: string }[];
    };
    const note = await teller.post('credit-notes', {
      invoice_id: id,
      lines: [{ invoice_line_id: lines[0]?.id, amount: 400 }],
      reason: 'Goodwill',
      settle: 'credit',
    });
    await engine.open(page, `/invoices/${id}`);
    await button('Collect…').click();
    await page.getByRole('dialog', { name: /\$6\.00$/ }).waitFor();
    await loseRequest('**/pay');
    await teller.post(`credit-notes/${note.id}/void`, {});
    const answer = await hold(`**/v1/invoices/${id}`);
    await button('Collect…').click();
    await confirm().click();
    await page.getByText('Somebody has changed it since it was shown here.').waitFor();
    await answer('sent');
    await page.getByRole('dialog', { name: /\$10\.00$/ }).waitFor();
    await untilQuiet(page);
    await confirm().click();
    await toast('Payment succeeded: $10.00');
  });

  it('is the end that was confirmed first, when a lost one is repeated before the new one is shown', async () => {
    const { id, customer_id } = await openSeats('Hasty Seats Ltd');
    const end = async (): Promise<void> => {
      await dialog().getByLabel('When').selectOption('now');
      await page.getByLabel(/Credit the unused/).check();
    };
    await button('Cancel…').click();
    await end();
    await page.getByText(/^Billed at/).waitFor();
    await loseRequest('**/cancel');
    await teller.post(`subscriptions/${id}/change`, { quantity: '20', when: 'now' });
    const invoice = await teller.newest(`invoices?customer_id=${customer_id}`);
    await button('Cancel…').click();
    await dialog().getByText('has changed since this dialog was opened.').waitFor();
    const answer = await hold('**/cancel?preview=true');
    await end();
    await dialog().getByText('Loading…').waitFor();
    await confirm().click();
    await page.getByText('Somebody has changed it since it was shown here.').waitFor();
    await answer('sent');
    expect(await teller.newest(`invoices?customer_id=${customer_id}`)).toBe(invoice);
    await dialog().getByText(': total -$').waitFor();
    await confirm().click();
    await toast('Canceled.');
  });

  it('is what a draft would charge for its usage now, and afterwards its final total', async () => {
    const clock = await teller.post('test-clocks', { name: 'Late', now: '2026-03-01T00:00:00Z' });
    const customer = await teller.customer('Graceful Ltd', clock.id);
    await teller.change('PATCH', `customers/${customer}`, { invoice_grace_hours: 72 });
    const body = { customer_id: customer, plan_id: story.plan };
    await teller.post('subscriptions', body);
    await teller.advance(clock.id, '2026-04-01T02:00:00Z');
    const draft = await teller.newest(`invoices?customer_id=${customer}`);
    await engine.open(page, `/invoices/${draft}`);
    for (let number = 0; number < 9; number += 1) {
      await teller.post('usage-events', {
        idempotency_key: `late-${number}`,
        customer_id: customer,
        event_name: 'api_call',
        timestamp: '2026-03-31T10:00:00Z',
      });
    }
    await button('Finalize…').click();
    await page.getByRole('dialog', { name: 'Finalize: draft', exact: true }).waitFor();
    await dialog().getByText('The draft was made with a total of $29.00.').waitFor();
    await dialog().getByText('the lines add up to $29.10').waitFor();
    const row = dialog().getByRole('row').filter({ hasText: 'Calls' });
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      'Calls',
      'Mar 1, 2026 to Mar 31, 2026',
      '$0.00',
      '$0.10',
    ]);
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await page
      .getByRole('status')
      .filter({ hasText: /^Finalized \S+: total \$29\.10$/ })
      .waitFor();
  });

  it('is a draft of a deleted customer without its present usage', async () => {
    const clock = await teller.post('test-clocks', { name: 'Gone', now: '2026-03-01T00:00:00Z' });
    const customer = await teller.customer('Deleted Ltd', clock.id);
    await teller.change('PATCH', `customers/${customer}`, { invoice_grace_hours: 72 });
    await teller.post('subscriptions', { customer_id: customer, plan_id: story.plan });
    await teller.advance(clock.id, '2026-04-01T02:00:00Z');
    const draft = await teller.newest(`invoices?customer_id=${customer}`);
    await teller.change('DELETE', `customers/${customer}`);
    await engine.open(page, `/invoices/${draft}`);
    await button('Finalize…').click();
    await dialog().getByText('The draft was made with a total of $29.00.').waitFor();
    await dialog()
      .getByText('The customer is deleted, so its present usage cannot be read.')
      .waitFor();
    expect(await dialog().getByText('the lines add up to').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await confirm().click();
    await toast('Finalized');
  });

  it('is the amount of an invoice as it is now, and afterwards the charged amount', async () => {
    const id = await openInvoice('Outdated Ltd');
    const { lines } = (await teller.get(`invoices/${id}`)) as {
      readonly lines: readonly { readonly id: string }[];
    };
    const credit = (amount: number): Promise<unknown> =>
      teller.post('credit-notes', {
        invoice_id: id,
        lines: [{ invoice_line_id: lines[0]?.id, amount }],
        reason: 'Goodwill',
        settle: 'credit',
      });
    await engine.open(page, `/invoices/${id}`);
    await credit(400);
    await button('Collect…').click();
    await page.getByRole('dialog', { name: /^Collect: \S+, \$6\.00$/ }).waitFor();
    await credit(100);
    await confirm().click();
    await dialog().getByText('Somebody has changed it since it was shown here.').waitFor();
    await page.getByRole('dialog', { name: /^Collect: \S+, \$5\.00$/ }).waitFor();
    await confirm().click();
    await toast('Payment succeeded: $5.00 for ');
  });

  it('is that an invoice cannot be collected any more', async () => {
    const id = await openInvoice('Faster Ltd');
    await engine.open(page, `/invoices/${id}`);
    await teller.post(`invoices/${id}/pay`, {});
    await button('Collect…').click();
    await dialog().getByText('Not possible any more: the invoice is paid.').waitFor();
    expect(await confirm().isDisabled()).toBe(true);
    await button('Close').click();
  });

  it('are all plans in the currency of the customer, also old ones', async () => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 700 }];
    const terms = { currency: 'EUR', interval: 'month', prices };
    for (let number = 0; number < 100; number += 1)
      await teller.post('plans', { ...terms, code: `euro-${number}`, name: `Euro ${number}` });
    await engine.open(page, `/customers/${story.customer}`);
    await button('New subscription…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    expect(await dialog().getByText('There is no plan').count()).toBe(0);
    await button('Close').click();
    await engine.open(page, `/subscriptions/${story.subscription}`);
    await button('Change…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await button('Close').click();
    await engine.open(page, '/simulations');
    await page.getByLabel('Plan', { exact: true }).selectOption({ label: 'Scale (scale)' });
  });

  it('are amounts in full on a narrow screen', async () => {
    const price = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_234_567_000 };
    const terms = { currency: 'USD', interval: 'month', prices: [price] };
    await teller.post('plans', { ...terms, code: 'large', name: 'Large' });
    await engine.open(page, `/customers/${story.customer}`);
    await page.setViewportSize({ width: 360, height: 740 });
    await button('New subscription…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Large (large)' });
    const table = page.getByRole('region', { name: 'Preview, table' });
    await table.getByRole('cell', { name: /\$12,345,670\.00$/ }).waitFor();
    expect(
      await table.evaluate(
        (box: { readonly scrollWidth: number; readonly clientWidth: number }) =>
          box.scrollWidth - box.clientWidth,
      ),
    ).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  it('are plans with long names by their codes', async () => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 700 }];
    const terms = { currency: 'USD', interval: 'month', prices };
    const name = 'Enterprise agreement for universities, research institutes and their hospitals';
    for (const code of ['long-2026', 'long-2027'])
      await teller.post('plans', { ...terms, code, name });
    await engine.open(page, `/customers/${story.customer}`);
    await button('New subscription…').click();
    const options = dialog().getByLabel('Plan').locator('option');
    await options.nth(1).waitFor({ state: 'attached' });
    const texts = await options.filter({ hasText: 'Enterprise' }).allInnerTexts();
    expect(texts).toEqual([
      'Enterprise agreemen…and their hospitals (long-2027)',
      'Enterprise agreemen…and their hospitals (long-2026)',
    ]);
    await button('Close').click();
  });

  it('are the prices of the chosen plan in a simulation, as they were edited', async () => {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 700 }];
    const terms = { currency: 'USD', interval: 'month', prices };
    const { id } = await teller.post('plans', { ...terms, code: 'older', name: 'Older' });
    await engine.open(page, '/simulations');
    const plan = page.getByLabel('Plan', { exact: true });
    const text = page.getByLabel(/^Prices instead/);
    expect(await plan.inputValue()).toBe(id);
    const edited = (await text.inputValue()).replace('700', '800');
    await text.fill(edited);
    await teller.post('plans', { ...terms, code: 'newer', name: 'Newer' });
    await page.evaluate(`Object.defineProperty(Date, 'now', { value: () => performance.timeOrigin + 3_600_000 });
      dispatchEvent(new Event('visibilitychange'))`);
    await plan.locator('option', { hasText: 'Newer' }).waitFor({ state: 'attached' });
    expect(await plan.inputValue()).toBe(id);
    await plan.selectOption({ label: 'Newer (newer)' });
    expect(await text.inputValue()).toContain('700');
    await plan.selectOption({ label: 'Older (older)' });
    expect(await text.inputValue()).toBe(edited);
  });

  it.each([
    ['New subscription…', (): string => `/customers/${story.customer}`],
    ['Change…', (): string => `/subscriptions/${story.subscription}`],
  ])('is an error with a retry where the plans of %s cannot be read', async (name, path) => {
    await engine.open(page, path());
    const answer = await hold('**/v1/plans?*');
    await button(name).click();
    await dialog().getByText('Loading…').waitFor();
    expect(await dialog().getByText('There is no plan').count()).toBe(0);
    await answer('failed');
    await dialog().getByText('The service cannot be reached.').waitFor();
    expect(await dialog().getByLabel('Plan').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await button('Try again').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await button('Close').click();
  });
});
