import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { PASSWORD } from '../support/admins';
import {
  loadedFiles,
  openPage,
  type PageFaults,
  untilQuiet,
  violationsOf,
} from '../support/browser';
import type { ConsoleStory, ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole } from '../support/running-console';
import type { RunningService } from '../support/running-service';

const FIRST_LOAD_BYTES = 200_000;
const PAGE_BYTES = 40_000;
const MAX_ROWS = 60;
const MAX_TURNS = 60;
const MORE_CUSTOMERS = 400;
const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1360, height: 900 };

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the console', () => {
  let engine: RunningConsole;
  let email: string;
  let service: RunningService;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: PageFaults;
  let story: ConsoleStory;
  let teller: ConsoleStoryTeller;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ service, browser, teller } = engine);
    email = await engine.admin('owner');
    story = await teller.create(engine.receiverUrl);
    await engine.addCustomers(MORE_CUSTOMERS);
    ({ page, faults } = await engine.signIn(email));
    context = page.context();
  });

  afterAll(() => engine.stop());

  afterEach(() => {
    expect(faults.found.splice(0)).toEqual([]);
  });

  const open = (path: string): Promise<void> => engine.open(page, path);

  const toast = (text: string | RegExp): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  /** Opens an object by the command palette: keys only. */
  async function jumpTo(text: string, heading: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(text);
    await page.getByRole('option', { selected: true }).filter({ hasText: text }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }

  it('asks for a sign-in, says why one fails, and forgets the page after signing out', async () => {
    const other = await openPage(browser);
    await other.page.goto(`${service.url}/studio/customers/${story.customer}`);
    await other.page.getByLabel('Email').fill(email);
    await other.page.getByLabel('Password').fill('wrong horse battery staple');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByRole('alert').filter({ hasText: 'sign_in_failed' }).waitFor();
    expect(await violationsOf(other.page)).toEqual([]);
    await other.page.getByLabel('Password').fill(PASSWORD);
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
    await other.page.getByRole('button', { name: 'Sign out' }).click();
    await other.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await other.page.getByText('Grace Hopper').count()).toBe(0);
    expect(await other.page.title()).toBe('Billing console');
    expect(other.faults.found).toEqual([]);
    await other.context.close();
  });

  it('finds a customer by name and an invoice by the beginning of its id, with keys alone', async () => {
    await open('/events');
    await jumpTo('Grace', 'Grace Hopper');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(story.invoice);
    await page.getByRole('option', { name: 'Open this id' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/studio/invoices/${story.invoice}`);
  });

  it('explains the amount of a line by its events and tiers', async () => {
    await open(`/invoices/${story.invoice}`);
    await page.getByRole('link', { name: 'Why? Calls' }).click();
    await page.getByText('Computed again just now').waitFor();
    const card = page.getByRole('region', { name: 'Why $0.03?' });
    expect(await card.getByText('Tier 2: 2 × 1.25').count()).toBe(1);
    await card.getByText('three', { exact: true }).waitFor();
    expect(page.url()).toContain('line=il_');
    expect(await violationsOf(page)).toEqual([]);
  });

  it('explains an invoice from its lines to the amount due', async () => {
    await open(`/invoices/${story.invoice}`);
    await page.getByRole('link', { name: 'Explain', exact: true }).click();
    const card = page.getByRole('region', { name: 'Explanation of $29.03' });
    await card.getByText('the stored total of $29.03').waitFor();
    await card.getByText('Calls: $0.03').click();
    await card.getByText('Tier 2: 2 × 1.25').waitFor();
    await card.getByText('Exactly 2.5 minor units, rounded once to $0.03').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Close the explanation' }).click();
    await card.waitFor({ state: 'detached' });
  });

  it('refunds a part of a payment once, by mouse', async () => {
    await open(`/payments/${story.payment}`);
    await page.getByRole('button', { name: 'Refund…' }).click();
    await page.getByLabel('Amount in USD').fill('99999');
    await page.getByText('At most $29.03 can be refunded.').waitFor();
    expect(await page.getByRole('button', { name: /^Refund \$/ }).isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Amount in USD').fill('25.00');
    await page.getByLabel('Reason').fill('Duplicate charge');
    await page.getByRole('button', { name: 'Refund $25.00' }).dblclick();
    await toast('Refund of $25.00');
    const { data } = (await teller.get(`refunds?payment_id=${story.payment}`)) as {
      data: { amount: number; reason: string }[];
    };
    expect(data).toEqual([
      expect.objectContaining({ amount: 2_500, reason: 'Duplicate charge' }) as unknown,
    ]);
  });

  it('refunds by keys alone, and returns the focus when the dialog is closed', async () => {
    await open(`/payments/${story.payment}`);
    const button = page.getByRole('button', { name: 'Refund…' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Refund…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Amount in USD').waitFor();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toMatch('Amount');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1.00');
    await page.keyboard.press('Enter');
    await toast('Refund of $1.00');
  });

  it('shows the refusal of the service with its code', async () => {
    await open(`/payments/${story.payment}`);
    await page.getByRole('button', { name: 'Refund…' }).click();
    await page.getByLabel('Amount in USD').fill('3.03');
    // Another admin is faster.
    await teller.post(`refunds/payment/${story.payment}`, { amount: 300 });
    await page.getByRole('button', { name: 'Refund $3.03' }).click();
    await page.getByRole('alert').filter({ hasText: 'refund_amount_exceeds_refundable' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('credits a line of an invoice', async () => {
    await open(`/invoices/${story.firstInvoice}`);
    await page.getByRole('button', { name: 'Credit…' }).click();
    await page.getByLabel(/^Base, of/).fill('1.50');
    await page.getByLabel('Reason').fill('Goodwill');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Credit $1.50 before tax' }).click();
    await toast('Credit note');
  });

  it('changes a plan after a preview of the invoice', async () => {
    await open(`/subscriptions/${story.subscription}`);
    await page.getByRole('button', { name: 'Change…' }).click();
    const confirm = page.getByRole('button', { name: 'Confirm the change' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await page.getByText(/^Billed at/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await confirm.click();
    await page.getByRole('heading', { name: 'Scale' }).waitFor();
  });

  it('redeems a coupon after a preview of the invoice, and removes it', async () => {
    const coupon = { code: 'GIFT', type: 'percent', percent_off: '25', duration: 'forever' };
    await teller.post('coupons', coupon);
    await open(`/subscriptions/${story.subscription}`);
    const gift = page.getByRole('table').getByRole('row').filter({ hasText: 'GIFT' });
    await page.getByRole('button', { name: 'Redeem…' }).click();
    await page.getByLabel('Code').fill('GIFTS');
    await page.getByRole('alert').filter({ hasText: 'coupon_code_unknown' }).waitFor();
    await page.getByLabel('Code').fill('GIFT');
    await page.getByText(/^Billed at/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Redeem the coupon' }).click();
    await toast('Redeemed GIFT.');
    await gift.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Remove the coupon' }).click();
    await toast('Removed GIFT.');
    await gift.getByRole('button').waitFor({ state: 'detached' });
  });

  it('verifies the ledger', async () => {
    await open('/ledger');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('✓ Every check holds.').waitFor();
  });

  it('shows the answer to a delivery, and sends it again', async () => {
    await open(`/webhook-deliveries/${story.delivery}`);
    await page.getByText('Thank you.').first().waitFor();
    await page.getByRole('button', { name: 'Resend…' }).click();
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await toast('pending');
  });

  it('advances a test clock', async () => {
    await open(`/test-clocks/${story.clock}`);
    await page.getByRole('button', { name: 'Advance…' }).click();
    await page.getByLabel('To (UTC)').fill('2026-04-03T00:00');
    await page.getByRole('button', { name: 'Advance', exact: true }).click();
    await page.getByText('Apr 3, 2026').first().waitFor();
  });

  it('tries other prices on the usage of the past', async () => {
    await open('/simulations');
    await page.getByLabel('Plan', { exact: true }).selectOption({ label: 'Pro (pro)' });
    await page.getByLabel('From (UTC)').fill('2026-03-01');
    await page.getByLabel('Before (UTC)').fill('2026-05-01');
    const prices = page.getByLabel(/^Prices instead/);
    await prices.fill((await prices.inputValue()).replace('2900', '3900'));
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { name: 'Result in USD' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('copies a request as curl with its key', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('/customers');
    await page.getByRole('button', { name: 'New customer…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill("O'Hara");
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await toast('Copied');
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(text).toContain(`curl -X POST '${service.url}/v1/customers'`);
    expect(text).toMatch(/Idempotency-Key: console-[0-9a-f]{32}/);
    expect(text).toContain(String.raw`"name":"O'\''Hara"`);
  });

  it('keeps filters in the address', async () => {
    await open('/customers');
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByRole('status').filter({ hasText: '1 customer' }).waitFor();
    expect(page.url()).toContain('email=grace%40example.com');
    await page.reload();
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('grace@example.com');
  });

  it('filters by amounts of a currency, and sorts customers by name', async () => {
    await open('/invoices');
    await page.getByText('More filters').click();
    await page.getByLabel('Currency', { exact: true }).fill('USD');
    await page.waitForURL('**?currency=USD');
    await page.getByLabel('Total from').fill('29.01');
    await page.waitForURL('**&total_min=29.01');
    await page.getByLabel('Total to').fill('29.03');
    await page.waitForURL('**&total_max=29.03');
    await page.getByRole('status').filter({ hasText: '1 invoice: total $29.03' }).waitFor();
    expect(page.url()).toContain('currency=USD&total_min=29.01&total_max=29.03');
    const negative = page.waitForRequest(/[?&]total_min=-2903(&|$)/);
    await page.getByLabel('Total from').fill('-29.03');
    await negative;
    await page
      .getByRole('status')
      .filter({ hasText: /^\d+ invoices?: total/ })
      .waitFor();
    // Not taken for 5 minor units.
    const whole = page.waitForRequest(/[?&]total_min=-500(&|$)/);
    await page.getByLabel('Total from').fill('-5');
    await whole;
    await page.getByLabel('Total from').fill('five');
    await page.getByText('Enter an amount such as 29.50').waitFor();
    await open('/customers?owing=true');
    await page.getByText('Nothing matches the filters.').waitFor();
    await open('/customers?sort=name');
    const [first, last] = ['Customer 0', 'Grace Hopper'];
    await page.getByRole('row').nth(1).getByText(first, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('row').nth(2).getByText(last).waitFor();
  });

  it('has at most 60 rows of a long list in the document', async () => {
    await open('/customers');
    const rows = page.locator('tbody tr');
    const last = page.getByText('Grace Hopper');
    const counts = [await rows.count()];
    await page.getByRole('region', { name: 'Customers, table' }).hover();
    while (counts.length < MAX_TURNS && !(await last.isVisible())) {
      await page.mouse.wheel(0, 1_500);
      counts.push(await rows.count());
      // The end of the rows that were read is no end of the list.
      await untilQuiet(page);
      counts.push(await rows.count());
    }
    await last.waitFor();
    expect(Math.max(...counts)).toBeLessThanOrEqual(MAX_ROWS);
  });

  it('loads at most 200 kB compressed at first, and 40 kB for each further page', async () => {
    const sizes = new Map<string, number>();
    const sizeOf = (file: string): number => {
      const size = sizes.get(file) ?? gzipSync(readFileSync(file)).length;
      sizes.set(file, size);
      return size;
    };
    // A link under the pointer loads its page in advance.
    await page.mouse.move(0, 0);
    await open('/customers');
    const first = new Set(await loadedFiles(page));
    const firstBytes = [...first].reduce((sum, file) => sum + sizeOf(file), 0);
    expect(firstBytes).toBeLessThan(FIRST_LOAD_BYTES);
    for (const path of [`/customers/${story.customer}`, `/invoices/${story.invoice}`]) {
      await open(path);
      const further = (await loadedFiles(page)).filter((file) => !first.has(file));
      expect(further.reduce((sum, file) => sum + sizeOf(file), 0)).toBeLessThan(PAGE_BYTES);
    }
  });

  it('shows the names of customers and plans in lists without a request for each', async () => {
    const asked: string[] = [];
    const note = (request: Request): void => {
      if (/\/v1\/(customers|plans)\/\w+$/.test(request.url())) asked.push(request.url());
    };
    page.on('request', note);
    for (const path of ['/subscriptions', '/ledger', '/invoices', `/coupons/${story.coupon}`]) {
      await open(path);
    }
    page.off('request', note);
    expect(asked).toEqual([]);
  });

  it('is accessible in light and dark and as narrow as a phone, on every page', async () => {
    const faultsByPage: string[] = [];
    await open('/');
    const document = await (await service.get('/studio/')).text();
    for (const path of pagesOf(story)) {
      // Each address answers the same document, so one load serves all pages.
      expect(await (await service.get(`/studio${path}`)).text()).toBe(document);
      await engine.show(page, path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await violationsOf(page);
        faultsByPage.push(...violations.map((one) => `${path} ${colorScheme}: ${one}`));
      }
      await page.setViewportSize(NARROW);
      const beyond = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (beyond > 0) faultsByPage.push(`${path}: ${beyond} pixels wider than a phone`);
      await page.setViewportSize(WIDE);
    }
    expect(faultsByPage).toEqual([]);
  });
});

function pagesOf(story: ConsoleStory): readonly string[] {
  return [
    '/',
    '/reports',
    '/customers',
    `/customers/${story.customer}`,
    `/customers/${story.longName}`,
    '/subscriptions',
    `/subscriptions/${story.subscription}`,
    '/invoices',
    `/invoices/${story.invoice}`,
    `/invoices/${story.invoice}?explained=true`,
    '/payments',
    `/payments/${story.payment}`,
    '/refunds',
    '/credit-notes',
    '/disputes',
    '/ledger',
    '/plans',
    `/plans/${story.plan}`,
    '/addons',
    `/addons/${story.addon}`,
    '/coupons',
    `/coupons/${story.coupon}`,
    '/meters',
    `/meters/${story.meter}`,
    '/simulations',
    '/events',
    `/events/${story.event}`,
    '/webhooks',
    `/webhooks/${story.endpoint}`,
    `/webhook-deliveries/${story.delivery}`,
    '/test-clocks',
    `/test-clocks/${story.clock}`,
    '/settings',
    '/customers/cus_00000000000000000000000000',
  ];
}
