import type { Locator, Page, Route } from 'playwright-core';
import { PASSWORD } from '../support/admins';
import {
  loseAnswers,
  type PageFaults,
  refusal,
  untilQuiet,
  violationsOf,
} from '../support/browser';
import type { ConsoleStoryTeller } from '../support/console-story';
import { RunningConsole, type SignedInPage } from '../support/running-console';
import { until } from '../support/until';

const REFUNDS = '**/v1/refunds/payment/*';
const SESSION = '**/v1/session';
const OWNER = 'owner@example.com';
const ADMIN = 'admin@example.com';

/** Resolves after the page has shown what it rendered before. */
const TWO_FRAMES =
  'new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))';

/** Stores the keys of requests without a clear answer as the console of the release 0.1.0 does: without the admin. */
const WITHOUT_ADMINS = `
  const stored = 'billing-console-unanswered';
  const sent = JSON.parse(sessionStorage.getItem(stored));
  sessionStorage.setItem(stored, JSON.stringify(sent.map(([hash, one]) => [hash.split(' ')[0], one])));`;

/** Moves the first attempts of requests without a clear answer 29 days back, or forgets when they were. */
const withAge = (change: string): string => `
  const stored = 'billing-console-unanswered';
  const sent = JSON.parse(sessionStorage.getItem(stored));
  for (const [, one] of sent) ${change};
  sessionStorage.setItem(stored, JSON.stringify(sent));`;
const OLDER = withAge('one.firstSentAt -= 29 * 86_400_000');
const WITHOUT_TIMES = withAge('delete one.firstSentAt');

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the console with several admins in one browser', () => {
  let engine: RunningConsole;
  let teller: ConsoleStoryTeller;
  let owner: SignedInPage;
  let page: Page;
  let faults: PageFaults;
  let customer: string;
  let payment: string;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ teller } = engine);
    await engine.admin('owner');
    await engine.admin('admin');
    customer = (await teller.post('customers', { name: 'Grace Hopper' })).id;
  });

  afterAll(() => engine.stop());

  beforeEach(async () => {
    payment = (
      await teller.post('payments', {
        customer_id: customer,
        amount: 2_900,
        currency: 'USD',
        payment_method_id: 'pm_sandbox_ok',
      })
    ).id;
    owner = await engine.signIn(OWNER);
    ({ page, faults } = owner);
  });

  afterEach(async () => {
    expect(faults.found).toEqual([]);
    await owner.close();
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const alert = (text: string | RegExp): Locator =>
    page.getByRole('alert').filter({ hasText: text });

  async function enterRefund(): Promise<void> {
    await engine.open(page, `/payments/${payment}`);
    await button('Refund…').click();
    await page.getByLabel('Amount in USD').fill('5.00');
  }

  /** Makes a refund whose answer does not arrive. */
  async function loseRefund(): Promise<void> {
    await enterRefund();
    await loseAnswers(page, REFUNDS);
    await button('Refund $5.00').click();
    await alert('it is not done twice').waitFor();
    await page.unrouteAll();
  }

  async function signIn(email: string): Promise<void> {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
  }

  async function signOut(): Promise<void> {
    await button('Sign out').click();
    await button('Sign in').waitFor();
  }

  /** Signs an admin in as in another tab of the browser: the page does not know of it. */
  async function beginSessionOf(email: string): Promise<void> {
    await page.evaluate(
      `fetch('/v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify({ email, password: PASSWORD }))} }).then((response) => response.text())`,
    );
  }

  async function refunds(): Promise<number> {
    const { data } = (await teller.get(`refunds?payment_id=${payment}`)) as {
      readonly data: readonly unknown[];
    };
    return data.length;
  }

  it('never says that the request of another admin is not done twice', async () => {
    await loseRefund();
    await button('Close').click();
    await signOut();
    await signIn(ADMIN);
    await page.getByText('Ada · admin').waitFor();
    await enterRefund();
    await alert('Another admin sent this here, and the service gave no clear answer.').waitFor();
    expect(await page.getByText('it is not done twice').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await button('Close').click();
    await signOut();
    await signIn(OWNER);
    await page.getByText('Ada · owner').waitFor();
    await enterRefund();
    await alert('it is not done twice').waitFor();
    await button('Refund $5.00').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await refunds()).toBe(1);
  });

  it('repeats a refund that the console of the release 0.1.0 sent with the same key, after an upgrade', async () => {
    await loseRefund();
    await page.evaluate(WITHOUT_ADMINS);
    await enterRefund();
    await alert('This was sent here before, by you or another admin').waitFor();
    expect(await page.getByText(/sent this (before|here)/).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await button('Refund $5.00').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await refunds()).toBe(1);
    await enterRefund();
    await untilQuiet(page);
    expect(await page.getByRole('alert').count()).toBe(0);
    await button('Refund $5.00').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await refunds()).toBe(2);
  });

  it('says that a refund would be made again once the service may have forgotten its key', async () => {
    await loseRefund();
    await page.evaluate(WITHOUT_TIMES);
    await enterRefund();
    await alert('it is not done twice').waitFor();
    await page.evaluate(OLDER);
    await enterRefund();
    await alert(
      'This was sent 29 days ago or earlier, and the service gave no clear answer.',
    ).waitFor();
    expect(await page.getByText('it is not done twice').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await loseAnswers(page, REFUNDS);
    await button('Refund $5.00').click();
    await alert('it is not done twice').waitFor();
    expect(await refunds()).toBe(2);
    await page.unrouteAll();
    await button('Refund $5.00').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await refunds()).toBe(2);
  });

  it('keeps the session of another admin when an answer from before the sign-out arrives late', async () => {
    await engine.open(page, `/customers/${customer}`);
    const late: Route[] = [];
    await page.route(SESSION, async (route) => {
      if (route.request().method() !== 'GET' || late.length > 0) return route.continue();
      late.push(route);
    });
    await button('Edit…').click();
    await page.getByLabel('External id').fill(`late-${payment}`);
    await button('Save').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('The session is read', () => Promise.resolve(late.length > 0));
    const response = await late[0]?.fetch();
    await signOut();
    await signIn(ADMIN);
    await page.getByText('Ada · admin').waitFor();
    await late[0]?.fulfill({ response });
    await untilQuiet(page);
    await page.getByText('Ada · admin').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.unrouteAll();
  });

  it('says whose dialog was closed when another tab has signed in another admin', async () => {
    await enterRefund();
    await beginSessionOf(ADMIN);
    await button('Refund $5.00').click();
    await page.getByText('Ada · admin').waitFor();
    const notice = alert(`Now signed in as ${ADMIN}. What ${OWNER} had open here was closed.`);
    await notice.waitFor();
    expect(await page.getByText('It is not known').count()).toBe(0);
    expect(await refunds()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await engine.show(page, '/customers');
    await notice.waitFor();
    await button('Dismiss').click();
    await notice.waitFor({ state: 'detached' });
  });

  it('says what is not known to be done when another admin signs in after the end of a session', async () => {
    await loseRefund();
    await page.context().clearCookies();
    await button('Refund $5.00').click();
    await page
      .getByRole('dialog', { name: /^Your session has ended/ })
      .getByText(
        `What you typed is kept if ${OWNER} signs in again. If another admin signs in, it is lost.`,
      )
      .waitFor();
    await page.getByLabel('Email').fill(ADMIN);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await alert(`What ${OWNER} had open here was closed.`)
      .filter({ hasText: 'It is not known if this was done: Refund a payment.' })
      .waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await untilQuiet(page);
    expect(await violationsOf(page)).toEqual([]);
  });

  it.each(['refuses it', 'cannot be reached'])(
    'says that a sign-out has failed when the service %s',
    async (way) => {
      await page.route(SESSION, (route) =>
        way === 'cannot be reached'
          ? route.abort()
          : route.fulfill(refusal(503, 'service_unavailable')),
      );
      await button('Sign out').click();
      const dialog = page.getByRole('dialog', { name: 'You may still be signed in' });
      await dialog.getByRole('alert').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.unrouteAll();
      await dialog.getByRole('button', { name: 'Try again' }).click();
      await button('Sign in').waitFor();
    },
  );

  it('says in plain words that a sign-out was refused because another session has begun', async () => {
    await beginSessionOf(OWNER);
    const readings: Route[] = [];
    await page.route(SESSION, async (route) => {
      if (route.request().method() === 'GET') readings.push(route);
      else await route.continue();
    });
    await button('Sign out').click();
    await until('The session is read', () => readings.length === 1);
    // Before the new session is read, the sign-out could only be sent again with the token that was refused.
    await page.evaluate(TWO_FRAMES);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await readings[0]?.continue();
    await page.unroute(SESSION);
    const dialog = page.getByRole('dialog', { name: 'You may still be signed in' });
    await dialog.getByText('Somebody has signed in or out in another tab').waitFor();
    expect(await dialog.getByText('X-CSRF-Token').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await button('Sign in').waitFor();
  });

  it('names what is not known to be done once, without data of its objects', async () => {
    await loseAnswers(page, '**/advance');
    for (const name of ['Clock of Grace', 'Clock of Ada']) {
      const { id } = await teller.post('test-clocks', { name, now: '2027-01-31T12:00:00Z' });
      await engine.show(page, `/test-clocks/${id}`);
      await button('Advance…').click();
      await button('Advance').click();
      await alert('it is not done twice').waitFor();
      await button('Close').click();
    }
    await page.unrouteAll();
    await beginSessionOf(ADMIN);
    await button('Sign out').click();
    const notice = alert(`What ${OWNER} had open here was closed.`);
    await notice.filter({ hasText: 'if this was done: Advance a test clock (2).' }).waitFor();
    expect(await notice.getByText('Clock of').count()).toBe(0);
  });

  it('asks for a sign-in in front of an invoice whose PDF is opened after the end of the session', async () => {
    const { id } = await teller.post('invoices', {
      customer_id: customer,
      currency: 'USD',
      collection: 'send_invoice',
      days_until_due: 30,
      lines: [{ description: 'Workshop', amount: 1_000 }],
    });
    await teller.post(`invoices/${id}/finalize`, {});
    await engine.open(page, `/invoices/${id}`);
    const number = await page.getByRole('heading', { level: 1 }).innerText();
    await page.route(`**/v1/invoices/${id}.pdf`, (route) =>
      route.fulfill(refusal(429, 'rate_limited')),
    );
    await button('PDF').click();
    await page.getByRole('status').filter({ hasText: 'Try again later.' }).first().waitFor();
    await page.unrouteAll();
    await page.context().clearCookies();
    await button('PDF').click();
    await engine.signInAgain(page);
    const download = page.waitForEvent('download');
    await button('PDF').click();
    expect(number).toContain((await download).suggestedFilename().replace('.pdf', ''));
  });
});
