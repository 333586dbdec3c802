import type { Locator, Page, Request, Route } from 'playwright-core';
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

const REFUNDS = '**/v1/refunds/payment/*';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

interface InvoiceList {
  readonly data: readonly unknown[];
}

interface RefundList {
  readonly data: readonly { readonly amount: number }[];
}

describe('dialogs of the console', () => {
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
    await page.context().setOffline(false);
    await page.unrouteAll();
    expect(faults.found.splice(0)).toEqual([]);
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (): Locator => page.getByRole('dialog');
  const alert = (text: string): Promise<void> =>
    page.getByRole('alert').filter({ hasText: text }).waitFor();
  const toast = (text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  /** Clicks after the page has read its data again, because a button that moves during a click gets no click. */
  async function clickAgain(name: string): Promise<void> {
    await untilQuiet(page);
    await button(name).click();
  }

  async function refundsOf(payment: string): Promise<readonly number[]> {
    const { data } = (await teller.get(`refunds?payment_id=${payment}`)) as RefundList;
    return data.map(({ amount }) => amount);
  }

  /** Holds the request of a refund back until the returned function is called. */
  async function holdRefund(): Promise<() => Promise<void>> {
    const held: Route[] = [];
    await page.route(REFUNDS, (route) => void held.push(route));
    return async () => {
      for (const route of held) await route.continue();
    };
  }

  /** Opens the dialog of a refund, and fills in the amount. */
  async function enterRefund(amount: string): Promise<void> {
    await button('Refund…').click();
    await page.getByLabel('Amount in USD').fill(amount);
  }

  /** Opens an object by the command palette. */
  async function jumpTo(id: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(id);
    await page.getByRole('option', { selected: true }).filter({ hasText: id }).waitFor();
    await page.keyboard.press('Enter');
  }

  /** Opens the form of a new customer with a name and an external id. */
  async function enterCustomer(name: string, externalId: string): Promise<void> {
    await engine.open(page, '/customers');
    await button('New customer…').click();
    await dialog().getByLabel('Name').fill(name);
    await dialog().getByLabel('External id').fill(externalId);
  }

  it.each(['Back', 'the search'])(
    'are closed when %s opens another object of the same kind',
    async (way) => {
      const other = await teller.post('customers', { name: `Other by ${way}` });
      await engine.open(page, `/customers/${other.id}`);
      await engine.show(page, `/customers/${story.customer}`);
      await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor();
      await button('Edit…').click();
      await dialog().getByLabel('Name').fill('Renamed');
      await (way === 'Back' ? page.goBack() : jumpTo(other.id));
      await page.getByRole('heading', { name: `Other by ${way}`, level: 1 }).waitFor();
      expect(await dialog().count()).toBe(0);
    },
  );

  it('stay open while they send, and show the new state afterwards', async () => {
    await engine.open(page, `/payments/${story.payment}`);
    const send = await holdRefund();
    await enterRefund('2.00');
    await button('Refund $2.00').click();
    await button('Sending…').waitFor();
    for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
    expect(await button('Close').isDisabled()).toBe(true);
    expect(await page.locator('dialog:modal').count()).toBe(1);
    await send();
    await toast('Refund of $2.00');
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Refunds, table' }).getByText('$2.00').waitFor();
    expect(await refundsOf(story.payment)).toEqual([200]);
  });

  it('tell what became of a request after the user has moved to another page', async () => {
    await engine.open(page, `/payments/${story.payment}`);
    const send = await holdRefund();
    await enterRefund('27.03');
    await button('Refund $27.03').click();
    await button('Sending…').waitFor();
    await teller.post(`refunds/payment/${story.payment}`, { amount: 1 });
    await jumpTo(story.customer);
    await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor();
    await send();
    await toast('Refund a payment: ');
  });

  it.each(['in the same dialog', 'in another dialog', 'after a reload'])(
    'repeat a request without an answer with the same key, %s',
    async (where) => {
      const before = await refundsOf(story.payment);
      await engine.open(page, `/payments/${story.payment}`);
      await loseAnswers(page, REFUNDS);
      await enterRefund('3.00');
      await button('Refund $3.00').click();
      await page.getByText('it is not done twice').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.unrouteAll();
      if (where === 'in another dialog') {
        await button('Close').click();
        await enterRefund('3.00');
      }
      if (where === 'after a reload') {
        expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(
          'amount',
        );
        await page.reload();
        await enterRefund('3.00');
        await alert('it is not done twice');
      }
      await clickAgain('Refund $3.00');
      await toast('Refund of $3.00');
      expect(await refundsOf(story.payment)).toEqual([300, ...before]);
    },
  );

  it.each([
    [429, 'rate_limited', 'Try again later.'],
    [401, 'unauthenticated', 'Your session had ended. It is not known if this was done'],
    [403, 'cross_site_request', 'signed in or out in another tab'],
    [503, 'service_unavailable', 'Try again later.'],
  ])(
    'repeat a request without an answer with the same key after a refusal with status %i',
    async (status, code, shown) => {
      const before = await refundsOf(story.payment);
      await engine.open(page, `/payments/${story.payment}`);
      await enterRefund('1.50');
      await loseAnswers(page, REFUNDS);
      await button('Refund $1.50').click();
      await alert('it is not done twice');
      await page.unrouteAll();
      await page.route(REFUNDS, (route: Route) => route.fulfill(refusal(status, code)));
      await clickAgain('Refund $1.50');
      await alert(shown);
      await alert('it is not done twice');
      expect(await page.getByText('Nothing was done').count()).toBe(0);
      if (status === 401) await engine.signInAgain(page);
      await page.unrouteAll();
      await clickAgain('Refund $1.50');
      await toast('Refund of $1.50');
      expect(await refundsOf(story.payment)).toEqual([150, ...before]);
    },
  );

  it.each([
    ['1.21', 404, '{"message":"no Route matched with those values"}'],
    ['1.22', 409, '{"code":"conflict","detail":"Try another host."}'],
    ['1.23', 502, '{"errors":{"amount":["bad"]}}'],
    ['1.24', 404, 'null'],
    ['1.25', 412, '{"message":"Precondition Failed"}'],
  ])(
    'repeat a refund of %s without an answer with the same key after the error %i %s of a gateway',
    async (amount, status, body) => {
      const before = await refundsOf(story.payment);
      await engine.open(page, `/payments/${story.payment}`);
      await enterRefund(amount);
      await loseAnswers(page, REFUNDS);
      await button(`Refund $${amount}`).click();
      await alert('it is not done twice');
      await page.unrouteAll();
      await page.route(REFUNDS, (route: Route) =>
        route.fulfill({ status, contentType: 'application/json', body }),
      );
      await clickAgain(`Refund $${amount}`);
      await alert(`The service answered ${status}.`);
      await alert('it is not done twice');
      await page.unrouteAll();
      await clickAgain(`Refund $${amount}`);
      await toast(`Refund of $${amount}`);
      expect(await refundsOf(story.payment)).toEqual([Number(amount) * 100, ...before]);
    },
  );

  it('repeat a request with the same key in another dialog if a gateway has not waited for its answer', async () => {
    const before = await refundsOf(story.payment);
    await engine.open(page, `/payments/${story.payment}`);
    await enterRefund('1.30');
    await loseAnswers(page, REFUNDS, { status: 408, body: 'Request Timeout' });
    await button('Refund $1.30').click();
    await alert('The service answered 408.');
    await alert('it is not done twice');
    await page.unrouteAll();
    await untilQuiet(page);
    await button('Close').click();
    await enterRefund('1.30');
    await alert('it is not done twice');
    await clickAgain('Refund $1.30');
    await toast('Refund of $1.30');
    expect(await refundsOf(story.payment)).toEqual([130, ...before]);
  });

  it('fail at once while the browser is offline, and send nothing later', async () => {
    const before = await refundsOf(story.payment);
    await engine.open(page, `/payments/${story.payment}`);
    await enterRefund('1.75');
    await page.context().setOffline(true);
    await button('Refund $1.75').click();
    await dialog().getByText('The service cannot be reached.').first().waitFor();
    await button('Close').click();
    const read = page.waitForResponse(/\/v1\/refunds\?/);
    await page.context().setOffline(false);
    await read;
    await untilQuiet(page);
    expect(await refundsOf(story.payment)).toEqual(before);
  });

  it('send a form that was corrected after a refusal', async () => {
    await teller.post('customers', { name: 'First', external_id: 'taken' });
    await enterCustomer('Second', 'taken');
    await button('Create').click();
    await alert('Another customer has this external id. customer_external_id_taken');
    await dialog().getByLabel('External id').fill('free');
    await clickAgain('Create');
    await toast('Created Second.');
  });

  it('send a form again after the reason of its refusal is gone', async () => {
    const { id } = await teller.post('customers', { name: 'First', external_id: 'kept' });
    await enterCustomer('Third', 'kept');
    await button('Create').click();
    await alert('customer_external_id_taken');
    await teller.change('PATCH', `customers/${id}`, { external_id: null });
    await clickAgain('Create');
    await toast('Created Third.');
  });

  it('accept e-mail addresses of any script, as the API does', async () => {
    const { id } = await teller.post('customers', { name: 'Müller', email: 'ü@bücher.de' });
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    expect(await dialog().getByLabel('Email').inputValue()).toBe('ü@bücher.de');
    await dialog().getByLabel('Name').fill('Müller GmbH');
    await button('Save').click();
    await toast('Saved.');
    expect(await teller.get(`customers/${id}`)).toMatchObject({
      name: 'Müller GmbH',
      email: 'ü@bücher.de',
    });
  });

  it('show messages in front of themselves', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.setViewportSize({ width: 500, height: 500 });
    await enterCustomer('In front', '');
    await button('Copy as curl').click();
    const message = dialog().getByText('Copied. Set API_KEY');
    await message.waitFor();
    const box = await message.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 5, (box?.y ?? 0) + 5];
    expect(await page.evaluate(`document.elementFromPoint(${x}, ${y}).innerText`)).toContain(
      'Copied.',
    );
    await button('Close').click();
    await page.setViewportSize({ width: 1360, height: 900 });
  });

  it('explain in plain words what the service explains to programs', async () => {
    const { id: customer_id } = await teller.post('customers', { name: 'Cash Ltd' });
    const lines = [{ description: 'Workshop', amount: 1_000 }];
    const terms = { collection: 'send_invoice', days_until_due: 30 };
    const { id } = await teller.post('invoices', {
      customer_id,
      currency: 'USD',
      lines,
      ...terms,
    });
    await teller.post(`invoices/${id}/finalize`, {});
    await engine.open(page, `/invoices/${id}`);
    await button('Collect…').click();
    await button('Collect').click();
    await alert('The customer has no default payment method that could be charged.');
    expect(await dialog().getByText('"provider"').count()).toBe(0);
    await button('Close').click();
  });

  it('save only the fields that were changed, and nothing if another tab has changed the customer', async () => {
    const { id } = await teller.post('customers', { name: 'Tabs', email: 'old@example.com' });
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    await teller.change('PATCH', `customers/${id}`, { email: 'new@example.com' });
    await dialog().getByLabel('Name').fill('Two tabs');
    await button('Save').click();
    await alert('Somebody has changed it');
    expect(await teller.get(`customers/${id}`)).toMatchObject({ name: 'Tabs' });
    await untilQuiet(page);
    await button('Close').click();
    await button('Edit…').click();
    expect(await dialog().getByLabel('Email').inputValue()).toBe('new@example.com');
    await dialog().getByLabel('Name').fill('Two tabs');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await button('Save').click();
    expect((await sent).postDataJSON()).toEqual({ name: 'Two tabs' });
    await page.getByRole('heading', { name: 'Two tabs' }).waitFor();
  });

  it('do not overwrite a change that the page could not read', async () => {
    const { id } = await teller.post('customers', { name: 'Cut Ltd', email: 'old@example.com' });
    const email = 'theirs@example.com';
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    await teller.change('PATCH', `customers/${id}`, { email });
    await page.route(`**/v1/customers/${id}`, (route: Route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ headers: { etag: '"2"' }, contentType: 'application/json', body: '{' })
        : route.continue(),
    );
    await dialog().getByLabel('Name').fill('Renamed');
    await button('Save').click();
    await alert('Somebody has changed it since you opened this form.');
    await untilQuiet(page);
    await button('Close').click();
    await page.unrouteAll();
    await button('Edit…').click();
    expect(await dialog().getByLabel('Email').inputValue()).toBe('old@example.com');
    await dialog().getByLabel('Email').fill('mine@example.com');
    await button('Save').click();
    await alert('Somebody has changed it since you opened this form.');
    expect(await teller.get(`customers/${id}`)).toMatchObject({ name: 'Cut Ltd', email });
  });

  it('do not say that a customer has changed because of the error 412 of a gateway', async () => {
    const { id } = await teller.post('customers', { name: 'Proxied' });
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    await dialog().getByLabel('Name').fill('Renamed');
    await page.route(`**/v1/customers/${id}`, (route: Route) =>
      route.request().method() === 'PATCH' ? route.fulfill(gatewayError(412)) : route.continue(),
    );
    await button('Save').click();
    await alert('The service answered 412.');
    expect(await dialog().getByText('has changed').count()).toBe(0);
    await untilQuiet(page);
    await page.unrouteAll();
    await button('Save').click();
    await toast('Saved.');
  });

  it('do not take a customer for deleted because of the error 404 of a gateway', async () => {
    const clock = await teller.post('test-clocks', { name: 'Gate', now: '2026-03-01T00:00:00Z' });
    const customer_id = await teller.customer('Gated Ltd', clock.id);
    await teller.change('PATCH', `customers/${customer_id}`, { invoice_grace_hours: 72 });
    await teller.post('subscriptions', { customer_id, plan_id: story.plan });
    await teller.advance(clock.id, '2026-04-01T02:00:00Z');
    const draft = await teller.newest(`invoices?customer_id=${customer_id}`);
    await engine.open(page, `/invoices/${draft}`);
    await page.route('**/usage', (route: Route) => route.fulfill(gatewayError(404)));
    await button('Finalize…').click();
    await alert('The service answered 404.');
    expect(await button('Finalize').isDisabled()).toBe(true);
    await page.unrouteAll();
    await button('Try again').click();
    await dialog().getByText('The draft was made with a total of $29.00.').waitFor();
    expect(await button('Finalize').isEnabled()).toBe(true);
  });

  it('leave blanks around a text alone that was not changed', async () => {
    const body = { name: ' Padded ', external_id: ' id 1 ' };
    const { id } = await teller.post('customers', body);
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    await dialog().getByLabel('Email').fill(' padded@example.com ');
    await button('Save').click();
    await toast('Saved.');
    const email = 'padded@example.com';
    expect(await teller.get(`customers/${id}`)).toMatchObject({ ...body, email });
  });

  it('send one request for a double click, and so do buttons without a dialog', async () => {
    const sent: string[] = [];
    const record = (request: Request): void => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`);
    };
    page.on('request', record);
    // Both clicks happen before the page is rendered again.
    const clickTwice = (name: string): Promise<void> =>
      button(name).evaluate((clicked: { readonly click: () => void }) => {
        clicked.click();
        clicked.click();
      });
    const { id } = await teller.post('customers', { name: 'Once' });
    await engine.open(page, `/customers/${id}`);
    await button('Edit…').click();
    await dialog().getByLabel('Name').fill('Only once');
    await clickTwice('Save');
    await toast('Saved.');
    await engine.open(page, '/settings');
    await clickTwice('Set up…');
    await dialog().waitFor();
    await untilQuiet(page);
    page.off('request', record);
    const { url } = engine.service;
    expect(sent).toEqual([`PATCH ${url}/v1/customers/${id}`, `POST ${url}/v1/second-factor`]);
  });

  it('undo a scheduled change', async () => {
    const { data } = (await teller.get('plans')) as {
      readonly data: readonly { readonly id: string; readonly code: string }[];
    };
    const scale = data.find(({ code }) => code === 'scale');
    const path = `subscriptions/${story.subscription}`;
    await teller.post(`${path}/change`, { plan_id: scale?.id, when: 'period_end' });
    await engine.open(page, `/${path}`);
    expect(await button('Change…').count()).toBe(0);
    await page.getByRole('button', { name: /^Undo the change of/ }).click();
    expect(await violationsOf(page)).toEqual([]);
    await button('Undo it').click();
    await toast('Undone.');
    await page.getByRole('table').getByText('undone').waitFor();
    await button('Change…').click();
    await page.getByLabel('Quantity').fill('2');
    await page.getByText(/^Billed at/).waitFor();
    await button('Close').click();
  });

  it.each(['Next event…', 'Advance…'])(
    'advance a test clock once, repeated after a lost answer of %s',
    async (name) => {
      const now = '2026-03-01T00:00:00Z';
      const { id } = await teller.post('test-clocks', { name: 'Lost answer', now });
      const customer_id = await teller.customer('Twice Ltd', id);
      await teller.post('subscriptions', { customer_id, plan_id: story.plan });
      await engine.open(page, `/test-clocks/${id}`);
      await button(name).click();
      await loseAnswers(page, '**/advance');
      await button('Advance').click();
      await dialog().getByText('it is not done twice').waitFor();
      await page.unrouteAll();
      await page.getByText('Apr 1, 2026, 12:00 AM UTC').first().waitFor();
      await clickAgain('Advance');
      await dialog().waitFor({ state: 'detached' });
      await page.getByText('ready', { exact: true }).waitFor();
      const { data } = (await teller.get(`invoices?customer_id=${customer_id}`)) as InvoiceList;
      expect(data).toHaveLength(name === 'Next event…' ? 1 : 2);
    },
  );

  it('show what a pause and a resume bill', async () => {
    await engine.open(page, `/subscriptions/${story.subscription}`);
    await button('Pause…').click();
    await page.getByLabel('Preview of the invoice').waitFor();
    await button('Pause').click();
    await toast('Done: pause.');
    await button('Resume…').click();
    await page.getByText('before May 1, 2026, 12:00 AM UTC, the paid period continues').waitFor();
    await page.getByText(/^Billed at May 1, 2026/).waitFor();
    await button('Resume').click();
    await toast('Done: resume.');
  });
});
