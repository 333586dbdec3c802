import type { Locator, Page } from 'playwright-core';
import type { PageFaults } from '../support/browser';
import type { ConsoleStory } from '../support/console-story';
import { RunningConsole } from '../support/running-console';
import { until } from '../support/until';

const MAX_TABS = 120;
const MORE_CUSTOMERS = 400;

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

/** Uses a page by mouse, or by keys alone, and counts what a person would click. */
class PageUser {
  clicks = 0;

  constructor(
    private readonly page: Page,
    private readonly kind: 'mouse' | 'keys',
  ) {}

  /** Moves the focus forward until it is on the element. */
  private async reach(target: Locator): Promise<void> {
    await target.waitFor();
    for (let tab = 0; tab < MAX_TABS; tab += 1) {
      if ((await target.and(this.page.locator(':focus')).count()) > 0) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`${MAX_TABS} tabs do not reach ${String(target)}`);
  }

  async use(target: Locator): Promise<void> {
    this.clicks += 1;
    if (this.kind === 'mouse') {
      await target.click();
      return;
    }
    await this.reach(target);
    await this.page.keyboard.press('Enter');
  }

  async fill(target: Locator, text: string): Promise<void> {
    if (this.kind === 'mouse') {
      await target.fill(text);
      return;
    }
    await this.reach(target);
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.type(text);
  }

  async choose(target: Locator, label: string): Promise<void> {
    this.clicks += 1;
    if (this.kind === 'mouse') {
      await target.selectOption({ label });
      return;
    }
    // As the mouse does: the options may still be loading.
    await target.locator('option', { hasText: label }).waitFor({ state: 'attached' });
    await this.reach(target);
    await this.page.keyboard.type(label);
  }
}

interface Overdue {
  readonly overdue_at: string | null;
}

describe.each(['mouse', 'keys'] as const)('tasks in the console by %s', (kind) => {
  let engine: RunningConsole;
  let page: Page;
  let faults: PageFaults;
  let story: ConsoleStory;
  let hands: PageUser;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    story = await engine.teller.create(engine.receiverUrl);
    await engine.addCustomers(MORE_CUSTOMERS);
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  beforeEach(() => {
    hands = new PageUser(page, kind);
  });

  afterEach(() => {
    expect(faults.found.splice(0)).toEqual([]);
  });

  const button = (name: string | RegExp): Locator =>
    page.getByRole('button', { name, exact: typeof name === 'string' });

  const toast = (text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  /** Opens a page or an object by the command palette. */
  async function jumpTo(text: string, heading: string | RegExp): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(text);
    await page.getByRole('option', { selected: true }).filter({ hasText: text }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }

  it('finds a customer by name, and every object by its id', async () => {
    await jumpTo('Grace Hopper', 'Grace Hopper');
    await jumpTo(story.invoice, /TEST-/);
    await jumpTo(story.payment, /^Payment of/);
    expect(hands.clicks).toBe(0);
  });

  it('explains an amount in 1 click', async () => {
    await jumpTo(story.invoice, /TEST-/);
    await hands.use(page.getByRole('link', { name: 'Why? Calls' }));
    await page.getByText('Computed again just now').waitFor();
    expect(hands.clicks).toBe(1);
  });

  it('explains a whole invoice in 1 click', async () => {
    await jumpTo(story.invoice, /TEST-/);
    await hands.use(page.getByRole('link', { name: 'Explain', exact: true }));
    await page.getByText('and all stored lines').waitFor();
    expect(hands.clicks).toBe(1);
  });

  it('refunds 25.00 with a reason in 2 clicks', async () => {
    await jumpTo(story.payment, /^Payment of/);
    await hands.use(button('Refund…'));
    await hands.fill(page.getByLabel('Amount in USD'), '25.00');
    await hands.fill(page.getByLabel('Reason'), 'Duplicate charge');
    await hands.use(button('Refund $25.00'));
    await toast('Refund of $25.00');
    expect(hands.clicks).toBe(2);
  });

  it('corrects an invoice in 2 clicks', async () => {
    await jumpTo(story.firstInvoice, /TEST-/);
    await hands.use(button('Credit…'));
    await hands.fill(page.getByLabel(/^Base, of/), '1.50');
    await hands.fill(page.getByLabel('Reason'), 'Goodwill');
    await hands.use(button('Credit $1.50 before tax'));
    await toast('Credit note');
    expect(hands.clicks).toBeLessThanOrEqual(3);
  });

  it('changes a plan in 3 clicks, with the invoice it makes in sight', async () => {
    await jumpTo(story.subscription, 'Pro');
    await hands.use(button('Change…'));
    await hands.choose(page.getByLabel('Plan'), 'Scale (scale)');
    await page.getByText(/^Billed at/).waitFor();
    await hands.use(button('Confirm the change'));
    await page.getByRole('heading', { name: 'Scale' }).waitFor();
    expect(hands.clicks).toBe(3);
  });

  it('finds who owes, and collects, in 3 clicks', async () => {
    const { teller } = engine;
    const { id } = await teller.post('customers', { name: 'Owing Ltd' });
    const invoice = await teller.post('invoices', {
      customer_id: id,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount: 4_500 }],
    });
    await teller.post(`invoices/${invoice.id}/finalize`, {});
    await teller.post(`customers/${id}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    // Becoming overdue changes the invoice. A dialog that was opened before would then ask for another confirmation.
    await until('the invoice is overdue', async () => {
      const { overdue_at } = (await teller.get(`invoices/${invoice.id}`)) as Overdue;
      return overdue_at !== null;
    });
    await jumpTo('Reports', 'Reports');
    await hands.use(page.getByRole('link', { name: 'Owing Ltd' }).first());
    await hands.use(page.getByRole('button', { name: /^Collect INV-/ }));
    await hands.use(button('Collect'));
    await toast('Payment succeeded');
    expect(hands.clicks).toBe(3);
  });

  it('reads monthly recurring revenue on the first page, and the changes of a month in 1 click', async () => {
    const { teller } = engine;
    const { id } = await teller.post('customers', { name: 'Steady Ltd' });
    await teller.post('subscriptions', { customer_id: id, plan_id: story.plan });
    await jumpTo('Home', 'Home');
    // Home was read before the subscription began.
    await page.reload();
    await page.getByText('$29.00 now').waitFor();
    const chart = page.getByRole('img', { name: /recurring revenue/ });
    if (kind === 'keys') {
      await hands.use(chart);
      for (let month = 0; month < 12; month += 1) await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
    } else {
      const box = await chart.boundingBox();
      hands.clicks += 1;
      await chart.click({ position: { x: (box?.width ?? 0) - 12, y: 100 } });
    }
    await page.getByRole('heading', { name: 'Reports' }).waitFor();
    const changes = page.getByRole('region', { name: 'Changes of MRR, table' });
    await changes.getByRole('link', { name: 'Steady Ltd' }).waitFor();
    expect(hands.clicks).toBe(1);
  });

  it('verifies the ledger and downloads it in 2 clicks', async () => {
    await jumpTo('Ledger', 'Ledger');
    await hands.use(button('Verify'));
    await page.getByText('✓ Every check holds.').waitFor();
    const download = page.waitForEvent('download');
    await hands.use(button('Download CSV'));
    expect((await download).suggestedFilename()).toBe('transactions.csv');
    expect(hands.clicks).toBe(2);
  });

  it('sends a delivery again in 2 clicks', async () => {
    await jumpTo(story.delivery, /^Delivery of/);
    await hands.use(button('Resend…'));
    await hands.use(button('Resend'));
    await toast('pending');
    expect(hands.clicks).toBe(2);
  });

  it('finds the failed deliveries and sends them all again in 3 clicks', async () => {
    await engine.failDelivery(story.endpoint);
    await jumpTo('Webhooks', 'Webhooks');
    await hands.choose(page.getByLabel('Status'), 'failed');
    await page.getByRole('link', { name: 'webhook_endpoint.tested' }).first().waitFor();
    await hands.use(button('Resend all failed…'));
    await hands.use(button('Resend'));
    await toast('1 delivery pending');
    expect(hands.clicks).toBe(3);
  });

  it('shows the usage of a meter by hour in 1 click', async () => {
    await engine.teller.post('usage-events', {
      idempotency_key: 'today',
      customer_id: story.customer,
      event_name: 'api_call',
      timestamp: '2026-04-01T23:30:00Z',
    });
    await jumpTo('Grace Hopper', 'Grace Hopper');
    // An earlier test may have read the usage before this event.
    await page.reload();
    await page.getByRole('img', { name: 'API calls: 1' }).waitFor();
    await hands.choose(page.getByLabel('Time (UTC)'), '24 hours, by hour');
    await page.locator('figure svg text', { hasText: ':00' }).first().waitFor();
    await page.getByRole('img', { name: 'API calls: 1' }).waitFor();
    expect(hands.clicks).toBe(1);
  });

  it('advances a test clock by a month in 2 clicks', async () => {
    await jumpTo(story.clock, 'March');
    await hands.use(button('Advance…'));
    await hands.use(button('Advance'));
    await page.getByText('May 2, 2026').first().waitFor();
    expect(hands.clicks).toBe(2);
  });

  it('advances a test clock to exactly its next event in 2 clicks', async () => {
    const path = `test-clocks/${story.clock}`;
    const next = (await engine.teller.get(`${path}/next`)) as { readonly due_at: string };
    await jumpTo(story.clock, 'March');
    await hands.use(button('Next event…'));
    await hands.use(button('Advance'));
    await toast('It is');
    expect(await engine.teller.get(path)).toMatchObject({ now: next.due_at, status: 'ready' });
    expect(hands.clicks).toBe(2);
  });

  it('tries other prices in 1 click', async () => {
    await jumpTo('Simulations', 'Simulations');
    await hands.use(button('Run'));
    await page.getByRole('heading', { name: 'Result in USD' }).waitFor();
    expect(hands.clicks).toBe(1);
  });
});
