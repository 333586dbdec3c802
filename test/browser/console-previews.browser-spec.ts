import type { Locator, Page, Route } from 'playwright-core';
import { type PageFaults, untilQuiet, violationsOf } from '../support/browser';
import type { ConsoleStory, ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole } from '../support/running-console';
import { until } from '../support/until';

const PREVIEWS = '**/v1/subscriptions/*/*?preview=true';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('what dialogs of the console show before they can be confirmed', () => {
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

  it('does not hinder the repetition of a change whose answer was lost', async () => {
    const customer = await teller.customer('Unclear Ltd', story.clock);
    const body = { customer_id: customer, plan_id: story.plan };
    const { id } = await teller.post('subscriptions', body);
    await engine.open(page, `/subscriptions/${id}`);
    await button('Change…').click();
    await dialog().getByLabel('Plan').selectOption({ label: 'Scale (scale)' });
    await page.getByText(/^Billed at/).waitFor();
    await page.route('**/change', async (route: Route) => {
      await route.fetch();
      await route.abort();
    });
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
});
