import type { Locator, Page, Request, Route } from 'playwright-core';
import {
  gatewayError,
  type PageFaults,
  refusal,
  untilQuiet,
  violationsOf,
} from '../support/browser';
import type { ConsoleStory } from '../support/console-story';
import { RunningConsole } from '../support/running-console';
import { until } from '../support/until';

const ROWS_SHOWN = 50;
const NARROW = { width: 390, height: 844 };
const WIDE = { width: 1360, height: 900 };
const FOCUSED = `document.activeElement.tagName + ' ' + document.activeElement.innerText`;

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the pages of the console', () => {
  let engine: RunningConsole;
  let page: Page;
  let faults: PageFaults;
  let story: ConsoleStory;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    story = await engine.teller.create(engine.receiverUrl);
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults.found.splice(0)).toEqual([]);
  });

  const card = (name: string): Locator => page.getByRole('region', { name, exact: true });

  it('say that data is loading or cannot be read, and never that there is none', async () => {
    let isDown = true;
    const waiting: Route[] = [];
    await page.route(/\/v1\/invoices\?/, (route) => {
      if (isDown) waiting.push(route);
      else void route.continue();
    });
    await page.route(/\/v1\/(subscriptions|payments|ledger\/accounts|events)\?/, (route) =>
      isDown ? route.abort() : route.continue(),
    );
    await page.goto(`${engine.service.url}/studio/customers/${story.customer}`);
    await card('Invoices').getByText('Loading…').waitFor();
    for (const name of ['Subscriptions', 'Payments', 'Timeline', 'Overview'])
      await card(name).getByText('The service cannot be reached.').waitFor();
    await card('Overview').getByText('Not known').first().waitFor();
    expect(await page.getByText(/^No (subscriptions|invoices|payments|events)/).count()).toBe(0);
    isDown = false;
    for (const route of waiting) await route.continue();
    await card('Subscriptions').getByRole('button', { name: 'Try again' }).click();
    await card('Subscriptions').getByRole('link', { name: 'Pro' }).waitFor();
    await card('Invoices').getByRole('row').nth(2).waitFor();
  });

  it.each([
    ['subscriptions', 'subscription', /\/(invoices\?|scheduled-changes|coupons)/, 3],
    ['invoices', 'invoice', /\/payments\?/, 1],
    ['payments', 'payment', /\/(refunds|disputes)\?/, 2],
    ['coupons', 'coupon', /\/redemptions\?/, 1],
  ] as const)('of %s offer to read again what has failed', async (path, object, failing, count) => {
    let isDown = true;
    await page.route(failing, (route) => (isDown ? route.abort() : route.continue()));
    await engine.open(page, `/${path}/${story[object]}`);
    const retry = page.getByRole('button', { name: 'Try again' });
    expect(await retry.count()).toBe(count);
    expect(await page.getByText(/^(No .*\.$|Not redeemed)/).count()).toBe(0);
    isDown = false;
    for (let left = count; left > 0; left -= 1) {
      await retry.first().click();
      await untilQuiet(page);
    }
    expect(await retry.count()).toBe(0);
  });

  it.each([
    ['customers', 'customer', 'Edit…'],
    ['invoices', 'invoice', 'Credit…'],
    ['payments', 'payment', 'Refund…'],
    ['subscriptions', 'subscription', 'Cancel…'],
    ['test-clocks', 'clock', 'Advance…'],
    ['webhooks', 'endpoint', 'Send a test event…'],
  ] as const)(
    'of %s say that their object could not be read again',
    async (path, object, action) => {
      const { [object]: id } = story;
      await engine.open(page, `/${path}/${id}`);
      await page.getByRole('button', { name: action, exact: true }).click();
      await untilQuiet(page);
      if (action === 'Credit…') {
        await page.getByRole('dialog').getByRole('textbox').first().fill('1.00');
        await page.getByLabel('Reason').fill('Goodwill');
      }
      await page.route(new RegExp(`/v1/.*${id}(/[a-z]+)?$|/v1/credit-notes$`), (route) =>
        route.abort(),
      );
      await page.locator('dialog button[type=submit]').click();
      const failure = page.locator('main > [role=alert]');
      await failure.getByText('The service cannot be reached.').waitFor();
      await untilQuiet(page);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      expect(await violationsOf(page)).toEqual([]);
      await page.unrouteAll();
      await failure.getByRole('button', { name: 'Try again' }).click();
      await failure.waitFor({ state: 'detached' });
    },
  );

  it('ask no longer for a test clock once it cannot be read', async () => {
    const owner = await engine.signIn('owner@example.com');
    await owner.page.clock.install();
    let isGone = false;
    let asked = 0;
    await owner.page.route(`**/v1/test-clocks/${story.clock}`, async (route) => {
      asked += 1;
      if (isGone) return route.fulfill(refusal(404, 'not_found', 'No such clock.'));
      const response = await route.fetch();
      const json = { ...((await response.json()) as object), status: 'advancing' };
      return route.fulfill({ response, json });
    });
    await engine.open(owner.page, `/test-clocks/${story.clock}`);
    isGone = true;
    await owner.page.clock.runFor(1_000);
    await owner.page.getByRole('alert').filter({ hasText: 'No such clock.' }).waitFor();
    asked = 0;
    await owner.page.clock.runFor(10_000);
    await untilQuiet(owner.page);
    expect(asked).toBe(0);
    await owner.close();
  });

  it.each([
    ['it cannot be reached', (route: Route): Promise<void> => route.abort()],
    ['a gateway answers 404', (route: Route): Promise<void> => route.fulfill(gatewayError(404))],
  ])('do not say that there is no second factor if %s', async (_, fail) => {
    let isDown = true;
    await page.route('**/v1/second-factor', (route) => (isDown ? fail(route) : route.continue()));
    await engine.open(page, '/settings');
    const shown = async (): Promise<string> =>
      (await card('Second factor').locator('dl').innerText()).replace(/\s+/g, ' ');
    expect(await shown()).toBe('Status – Enabled – Recovery codes left –');
    const begin = card('Second factor').getByRole('button', { name: 'Set up…' });
    expect(await begin.count()).toBe(0);
    isDown = false;
    await card('Second factor').getByRole('button', { name: 'Try again' }).click();
    await begin.waitFor();
    expect(await shown()).toBe('Status none Enabled – Recovery codes left –');
  });

  it('of the ledger show no balances and no verification that could not be read', async () => {
    let isDown = false;
    await page.route(/\/v1\/ledger\/(verify|accounts)/, (route) =>
      isDown ? route.abort() : route.continue(),
    );
    await engine.open(page, '/ledger');
    const verify = card('Verification').getByRole('button', { name: 'Verify' });
    await verify.click();
    await card('Verification').getByText('Every check holds.').waitFor();
    await card('Verification')
      .getByText(/^Verified at .* UTC/)
      .waitFor();
    isDown = true;
    await verify.click();
    await card('Verification').getByRole('alert').waitFor();
    expect(await page.getByText('Every check holds.').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Checks, table' }).count()).toBe(0);
    await engine.open(page, '/ledger');
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByText('No postings yet.').count()).toBe(0);
  });

  it('say when they show the first rows only, with a link to all of them', async () => {
    const { id } = await engine.teller.post('customers', { name: 'Many Ltd' });
    const invoice = {
      customer_id: id,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount: 100 }],
    };
    for (let number = 0; number <= ROWS_SHOWN; number += 1)
      await engine.teller.post('invoices', invoice);
    await engine.open(page, `/customers/${id}`);
    expect(await card('Invoices').getByRole('row').count()).toBe(1 + ROWS_SHOWN);
    await card('Invoices').getByText('Only the first 50 are shown.').waitFor();
    expect(await card('Payments').getByText(/^Only/).count()).toBe(0);
    await page.getByRole('link', { name: 'All invoices' }).click();
    await page.getByRole('status').filter({ hasText: '51 invoices' }).waitFor();
    expect(page.url()).toContain(`/invoices?customer_id=${id}`);
  });

  it('open what was typed in the search, not what was found before', async () => {
    await engine.open(page, '/');
    await page.keyboard.press('Control+k');
    const input = page.getByRole('combobox', { name: 'Search or jump to' });
    await input.fill('Grace');
    await page.getByRole('option', { name: /^Grace Hopper/ }).waitFor();
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((asked) => {
      void page.route(/\/v1\/search\?q=Many/, async (route) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
          asked();
        });
        await route.continue();
      });
    });
    await input.fill('Many Ltd');
    await isAsked;
    await page.getByText('Searching…').waitFor();
    expect(await page.getByRole('option').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    answer();
    await page.getByRole('option', { name: /^Many Ltd/ }).waitFor();
    await input.fill('');
    await page.getByRole('option', { name: /^Home/ }).waitFor();
    expect(await page.getByRole('option', { name: /Ltd|Grace/ }).count()).toBe(0);
    for (let step = 0; step < 15; step += 1) await page.keyboard.press('ArrowDown');
    const row = await page.getByRole('option', { selected: true }).boundingBox();
    const list = await page.getByRole('listbox').boundingBox();
    const bottomOf = (box: typeof row): number => (box?.y ?? NaN) + (box?.height ?? NaN);
    expect(row?.y).toBeGreaterThanOrEqual(list?.y ?? NaN);
    // Positions are rounded to pixels.
    expect(bottomOf(row)).toBeLessThanOrEqual(bottomOf(list) + 1);
    await page.keyboard.press('Escape');
  });

  it('do not open what was found when Enter confirms the characters of an input method', async () => {
    await engine.open(page, '/');
    await page.keyboard.press('Control+k');
    const input = page.getByRole('combobox', { name: 'Search or jump to' });
    await input.fill('Grace');
    await page.getByRole('option', { selected: true }).filter({ hasText: 'Grace' }).waitFor();
    const event = { key: 'Enter', bubbles: true, cancelable: true };
    // Safari ends the composition before the key.
    for (const confirming of [{ isComposing: true }, { keyCode: 229 }]) {
      await input.dispatchEvent('keydown', { ...event, ...confirming });
      await untilQuiet(page);
    }
    expect(await input.inputValue()).toBe('Grace');
    await input.dispatchEvent('keydown', event);
    await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor();
  });

  it('have the focus on their heading once their object is read', async () => {
    await engine.open(page, '/');
    let answer = (): void => undefined;
    await page.route(/\/v1\/customers\/\w+$/, async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type(story.customer);
    await page.getByRole('option', { name: 'Open this id' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Customer', exact: true, level: 1 }).waitFor();
    await until(
      'The heading has the focus',
      async () => (await page.evaluate(FOCUSED)) === 'H1 Customer',
    );
    answer();
    await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor();
    expect(await page.evaluate(FOCUSED)).toBe('H1 Grace Hopper');
  });

  it('have a menu on a narrow screen that opens in sight, and closes with Escape', async () => {
    await page.setViewportSize(NARROW);
    await engine.open(page, `/customers/${story.customer}`);
    await page.mouse.wheel(0, 2_000);
    const button = page.getByRole('button', { name: 'Menu' });
    const menu = page.getByRole('navigation', { name: 'Main' });
    const home = menu.getByRole('link', { name: 'Home' });
    await button.click();
    await home.waitFor();
    const box = await home.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(NARROW.height);
    expect(await page.evaluate(FOCUSED)).toBe('A Home');
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(FOCUSED)).toBe('A Customers');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    expect(await page.evaluate(FOCUSED)).toBe('BUTTON Menu');
    await page.keyboard.press('Enter');
    await home.waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await menu.waitFor({ state: 'hidden' });
    await button.click();
    await page.mouse.click(NARROW.width - 10, 400);
    await menu.waitFor({ state: 'hidden' });
    await page.setViewportSize(WIDE);
  });

  it('count the deliveries that are retrying among what needs attention', async () => {
    await engine.open(page, '/');
    const tile = page.getByRole('link', { name: /^Deliveries retrying/ });
    expect(await tile.innerText()).toContain('Nothing to do');
    const { id } = await engine.teller.post(`webhooks/endpoints/${story.endpoint}/test`, {});
    await engine.teller.delivered(id);
    await engine.query(
      `UPDATE webhook_delivery SET status = 'pending', due_at = '2099-01-01' WHERE id = $1`,
      [id],
    );
    await engine.open(page, '/');
    expect(await tile.locator('strong').innerText()).toBe('1');
    await tile.click();
    await page.getByRole('link', { name: 'webhook_endpoint.tested' }).waitFor();
    await page.getByText('retrying', { exact: true }).waitFor();
  });

  it('say of which deliveries none is retrying', async () => {
    await page.route(/\/v1\/webhooks\/deliveries\?status=pending/, (route) =>
      route.fulfill({ json: { data: [{ attempt_count: 0 }], next_cursor: 'more' } }),
    );
    await engine.open(page, '/');
    const tile = page.getByRole('link', { name: /^Deliveries retrying/ });
    expect(await tile.innerText()).toMatch(/^Deliveries retrying\s+0\s+None of the newest 100$/);
    expect(await tile.getAttribute('data-fine')).toBe('true');
  });

  it('of a void invoice and of the one that regenerates it lead to each other', async () => {
    const { id } = await engine.teller.post('invoices', {
      customer_id: await engine.teller.customer('Regenerated Ltd', story.clock),
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount: 1_000 }],
    });
    await engine.teller.post(`invoices/${id}/finalize`, {});
    await engine.teller.post(`invoices/${id}/void`, {});
    await engine.open(page, `/invoices/${id}`);
    const regenerate = page.getByRole('button', { name: 'Regenerate…' });
    await regenerate.click();
    await page.getByText('Makes and finalizes a new invoice').waitFor();
    await page.getByRole('button', { name: 'Regenerate', exact: true }).click();
    const done = /^Regenerated as (\S+): total \$10\.00$/;
    const toast = await page.getByRole('status').filter({ hasText: done }).innerText();
    const [, number = ''] = done.exec(toast) ?? [];
    await page.getByRole('heading', { name: number, level: 1 }).waitFor();
    await card('Overview').getByRole('link', { name: id }).click();
    await card('Overview').getByRole('link', { name: number }).waitFor();
    expect(await regenerate.count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('offer for a subscription what can be done with it', async () => {
    const customer_id = await engine.teller.customer('Offers Ltd', story.clock);
    const body = { customer_id, plan_id: story.plan };
    const { id } = await engine.teller.post('subscriptions', body);
    const offered = async (): Promise<string> => {
      await engine.open(page, `/subscriptions/${id}`);
      const names = await page.getByRole('button', { name: /…$/ }).allInnerTexts();
      return names.filter((name) => /^(Pause|Resume|Keep|Cancel|Change)…$/.test(name)).join(' ');
    };
    expect(await offered()).toBe('Pause… Cancel… Change…');
    await engine.teller.post(`subscriptions/${id}/cancel`, { when: 'period_end' });
    expect(await offered()).toBe('Pause… Keep… Cancel…');
    await page.getByRole('button', { name: 'Cancel…' }).click();
    expect(await page.getByLabel('When').locator('option').allInnerTexts()).toEqual(['Now']);
    await page.getByRole('button', { name: 'Close' }).click();
    await engine.teller.post(`subscriptions/${id}/uncancel`, {});
    await engine.teller.post(`subscriptions/${id}/pause`, {});
    expect(await offered()).toBe('Resume… Cancel…');
  });

  it('keep to the calendar: a month after January 31, and no receivables of tomorrow', async () => {
    const now = '2027-01-31T12:00:00Z';
    const clock = await engine.teller.post('test-clocks', { name: 'January', now });
    await engine.open(page, `/test-clocks/${clock.id}`);
    await page.getByRole('button', { name: 'Advance…' }).click();
    expect(await page.getByLabel('To (UTC)').inputValue()).toBe('2027-02-28T12:00');
    await page.getByRole('button', { name: 'Close' }).click();
    await engine.open(page, '/reports');
    await page.getByLabel('At the start of (UTC)').first().fill('2999-01-01');
    await page.getByText('A day that is not in the future.').first().waitFor();
  });

  it('say of which invoices the remaining amounts are added up', async () => {
    await engine.teller.post('invoices', {
      customer_id: story.customer,
      currency: 'USD',
      lines: [{ description: 'Workshop', amount: 1_000 }],
    });
    await engine.open(page, '/invoices?status=draft');
    await page
      .getByRole('status')
      .filter({ hasText: 'remaining of finalized invoices, without void ones, $0.00' })
      .waitFor();
  });

  it.each(['offline', 'without its file'])(
    'keep the menu when the code of one cannot be loaded, %s',
    async (way) => {
      await engine.open(page, '/');
      await page.route(/\/studio\/assets\/coupons?|\/studio\/assets\/catalog/, (route) =>
        route.abort(),
      );
      if (way === 'offline') await page.context().setOffline(true);
      const menu = page.getByRole('navigation', { name: 'Main' });
      await menu.getByRole('link', { name: 'Coupons' }).click();
      await page.getByRole('heading', { name: 'This page cannot be shown', level: 1 }).waitFor();
      await page.getByText('The page cannot be loaded. Check your connection').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      if (way === 'offline') {
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByText('The service cannot be reached.').waitFor();
        await page.context().setOffline(false);
      }
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: 'Coupons', level: 1 }).waitFor();
      await untilQuiet(page);
    },
  );

  it('read receivables of a typed date once', async () => {
    await engine.open(page, '/reports');
    const asked: string[] = [];
    const note = (request: Request): void => {
      if (request.url().includes('/receivables')) asked.push(new URL(request.url()).search);
    };
    page.on('request', note);
    await page.getByLabel('At the start of (UTC)').first().focus();
    await page.keyboard.type('11012026', { delay: 50 });
    await page.getByText('At Nov 1, 2026').waitFor();
    page.off('request', note);
    expect(asked).toHaveLength(1);
  });

  it('name the event types of a new endpoint that do not exist', async () => {
    await engine.open(page, '/webhooks');
    await page.getByRole('button', { name: 'New endpoint…' }).click();
    await page.getByLabel('URL').fill(`${engine.receiverUrl}typo`);
    await page.getByLabel('Event types').fill('invoice.paid, invoice.payed');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'do not exist: invoice.payed.' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('lead home from an address that is none of theirs', async () => {
    await engine.open(page, '/invoice');
    await page.getByRole('heading', { name: 'No such page', level: 1 }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  it('say that the service cannot be reached, and offer to try again', async () => {
    let isDown = true;
    await page.route(/\/v1\/session$/, (route) => (isDown ? route.abort() : route.continue()));
    await page.goto(`${engine.service.url}/studio/customers`);
    await page.getByRole('heading', { name: 'Console', level: 1 }).waitFor();
    await page.getByText('The service cannot be reached. Check your connection').waitFor();
    isDown = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
  });
});
