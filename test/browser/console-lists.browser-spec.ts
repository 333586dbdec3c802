import type { Locator, Page, Route } from 'playwright-core';
import { type PageFaults, untilQuiet, violationsOf } from '../support/browser';
import { RunningConsole } from '../support/running-console';
import { until } from '../support/until';

const CUSTOMERS = 400;
const NARROW = { width: 390, height: 844 };
const WIDE = { width: 1360, height: 900 };
/** Slower than the time after which a filter takes effect. */
const SLOW_KEYS = { delay: 300 };

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the lists of the console', () => {
  let engine: RunningConsole;
  let page: Page;
  let faults: PageFaults;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    await engine.teller.post('customers', { name: 'Grace Hopper', email: 'grace@example.com' });
    await engine.addCustomers(CUSTOMERS);
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults.found.splice(0)).toEqual([]);
  });

  const table = (): Locator => page.getByRole('region', { name: 'Customers, table' });

  const scrollTop = (): Promise<number> =>
    page.evaluate<number>(`document.querySelector('[aria-label="Customers, table"]').scrollTop`);

  /** Returns the position of the list once it no longer moves. */
  async function settledTop(): Promise<number> {
    let top = await scrollTop();
    await until('The list stands still', async () => {
      const before = top;
      await untilQuiet(page);
      top = await scrollTop();
      return top === before;
    });
    return top;
  }

  const parameters = (): Record<string, string> =>
    Object.fromEntries(new URL(page.url()).searchParams);

  it('print all rows that were read, and no menu', async () => {
    await engine.open(page, '/customers');
    await table().hover();
    await page.mouse.wheel(0, 3_000);
    await page
      .getByRole('status')
      .filter({ hasText: /[2-4]\d\d\+? customers/ })
      .waitFor();
    await untilQuiet(page);
    const rows = page.locator('tbody tr[data-index]');
    const onScreen = await rows.count();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    expect(await rows.count()).toBeGreaterThan(100);
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(false);
    expect(
      await page.evaluate(
        `document.querySelector('[aria-label="Customers, table"]').scrollHeight ===
          document.querySelector('[aria-label="Customers, table"]').clientHeight`,
      ),
    ).toBe(true);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: null });
    await until('The list is as before', async () => (await rows.count()) <= onScreen + 2);
  });

  it('filter by a date that is typed slowly, digit by digit', async () => {
    await engine.open(page, '/customers');
    await page.getByText('More filters').click();
    const from = page.getByLabel('Created from (UTC)');
    await from.focus();
    await page.keyboard.type('11012026', SLOW_KEYS);
    await page.waitForURL('**/customers?created_from=2026-11-01');
    expect(await from.inputValue()).toBe('2026-11-01');
  });

  it('show the date that they are filtered by after a date was typed in part', async () => {
    await engine.open(page, '/customers?created_from=2026-11-01');
    const from = page.getByLabel('Created from (UTC)');
    await from.focus();
    await page.keyboard.press('Backspace');
    await page.getByLabel('Email').focus();
    expect(await from.inputValue()).toBe('2026-11-01');
    expect(parameters()).toEqual({ created_from: '2026-11-01' });
  });

  it('keep both of two filters that are filled at once', async () => {
    await engine.open(page, '/customers');
    await page.getByLabel('Name or part of it').fill('Grace');
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByRole('status').filter({ hasText: '1 customer' }).waitFor();
    await until('Both filters are set', () =>
      Promise.resolve(Object.keys(parameters()).length === 2),
    );
    expect(parameters()).toEqual({ q: 'Grace', email: 'grace@example.com' });
  });

  it('say in plain words why an amount cannot be filtered by, next to it', async () => {
    await engine.open(page, '/invoices?currency=USD&total_min=1,000');
    const least = page.getByLabel('Total from');
    await page.getByText('Enter an amount such as 29.50: no currency sign, no commas').waitFor();
    await page.getByText('Correct the filters to see the list.').waitFor();
    expect(await least.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Download CSV' }).isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await least.fill('1000');
    await page.getByText('Nothing matches the filters.').waitFor();
    await page.getByLabel('Currency', { exact: true }).fill('');
    await page.getByText('Enter the currency of the amount too.').waitFor();
    await engine.open(page, '/invoices?currency=EUROS&total_min=10');
    await page.getByText('Enter a currency code of three letters, such as USD.').waitFor();
    expect(await least.getAttribute('aria-invalid')).not.toBe('true');
    await engine.open(page, '/invoices?currency=KWD&total_min=1,000');
    await page.getByText('Enter an amount such as 2.950: no currency sign, no commas').waitFor();
  });

  it('sort names from A to Z at the first click, and keep the order without the filters', async () => {
    await engine.open(page, '/customers?q=Grace');
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL('**/customers?q=Grace&sort=name');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL('**/customers?sort=name');
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL('**/customers?sort=-name');
    await page.getByRole('button', { name: 'Created' }).click();
    await page.waitForURL('**/customers?sort=-created_at');
  });

  it('read all rows again after a change, also if the user scrolls to the end meanwhile', async () => {
    // The heading is the first row.
    const row = (number: number): Locator => page.locator(`tr[aria-rowindex="${number + 1}"]`);
    const taken = 'taken by another';
    await engine.teller.post('customers', { name: 'Taker', external_id: taken });
    await engine.open(page, '/customers');
    await table().hover();
    await page.mouse.wheel(0, 3_000);
    await row(102).waitFor();
    await page.getByRole('button', { name: 'New customer…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Other');
    await dialog.getByLabel('External id').fill(taken);
    await engine.query(`UPDATE customer SET name = 'After' WHERE name = 'Customer 399'`);
    const held: Route[] = [];
    await page.route(/\/v1\/customers\?(?!.*cursor)/, (route: Route) => void held.push(route));
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Another customer has this external id.').waitFor();
    await until('The rows are asked for', () => Promise.resolve(held.length === 1));
    await dialog.getByRole('button', { name: 'Close' }).click();
    await table().hover();
    await page.mouse.wheel(0, 20_000);
    await row(200).waitFor();
    await page.getByRole('status').filter({ hasText: 'Loading…' }).waitFor();
    await held[0]?.continue();
    await row(202).waitFor();
    await untilQuiet(page);
    await page.mouse.wheel(0, -40_000);
    await page.getByRole('link', { name: 'After', exact: true }).waitFor();
  });

  it('offer to try again after a further page has failed', async () => {
    let isDown = true;
    await page.route(/\/v1\/customers\?.*cursor=/, (route: Route) =>
      isDown ? route.abort() : route.continue(),
    );
    await engine.open(page, '/customers');
    await table().hover();
    await page.mouse.wheel(0, 20_000);
    const retry = page.getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    await page.getByText('The service cannot be reached.').waitFor();
    isDown = false;
    await retry.click();
    await retry.waitFor({ state: 'detached' });
    await table().hover();
    const last = page.getByRole('link', { name: 'Grace Hopper' });
    await until('The last page is read', async () => {
      await page.mouse.wheel(0, 20_000);
      return last.isVisible();
    });
  });

  it('do not look empty when they cannot be read', async () => {
    await page.route(/\/v1\/webhooks\/deliveries\?/, (route: Route) => route.abort());
    await engine.open(page, '/webhooks?status=failed');
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByText(/0 deliveries|Nothing matches the filters/).count()).toBe(0);
    const resendAll = page.getByRole('button', { name: 'Resend all failed…' });
    expect(await resendAll.isDisabled()).toBe(true);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing matches the filters.').waitFor();
    await page.getByRole('status').filter({ hasText: '0 deliveries' }).waitFor();
    expect(await resendAll.isEnabled()).toBe(true);
  });

  it('show an error while the browser is offline', async () => {
    await engine.open(page, '/customers');
    await page.context().setOffline(true);
    await page.getByLabel('Name or part of it').fill('Grace');
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await page.getByText(/0 customers|Nothing matches the filters/).count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
  });

  it.each([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])('are where they were after the way back, on a %s screen', async (_, size) => {
    await page.setViewportSize(size);
    await engine.open(page, '/customers');
    await table().scrollIntoViewIfNeeded();
    await table().hover();
    let top = 0;
    // More turns if the next rows were read only after the list had reached its end.
    for (let turn = 0; turn < 6 || (turn < 40 && top <= 4_000); turn += 1) {
      await page.mouse.wheel(0, 1_500);
      top = await settledTop();
    }
    expect(top).toBeGreaterThan(4_000);
    const rows = table().getByRole('link', { name: /^Customer/ });
    const link = rows.nth(Math.floor((await rows.count()) / 2));
    const name = await link.innerText();
    await link.click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await untilQuiet(page);
    await page.goBack();
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
    await page.getByRole('link', { name, exact: true }).waitFor();
    await untilQuiet(page);
    expect(Math.abs((await settledTop()) - top)).toBeLessThan(40);
    await page.setViewportSize(WIDE);
  });
});
