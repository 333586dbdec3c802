import { Secret, TOTP } from 'otpauth';
import type { Route } from 'playwright-core';
import { PASSWORD, PASSWORD_HASH } from '../support/admins';
import { openPage, untilQuiet, violationsOf } from '../support/browser';
import { RunningConsole, type SignedInPage } from '../support/running-console';
import { until } from '../support/until';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('access to the console', () => {
  let engine: RunningConsole;
  let customer: string;
  let payment: string;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    const { teller } = engine;
    customer = (await teller.post('customers', { name: 'Grace Hopper' })).id;
    payment = (
      await teller.post('payments', {
        customer_id: customer,
        amount: 2_900,
        currency: 'USD',
        payment_method_id: 'pm_sandbox_ok',
      })
    ).id;
  });

  afterAll(() => engine.stop());

  const toast = ({ page }: SignedInPage, text: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor();

  it('shows on the page to sign in why a sign-in with OpenID Connect failed', async () => {
    const { context, page, faults } = await openPage(engine.browser);
    await page.goto(`${engine.service.url}/v1/session/oidc?return_to=/studio/`);
    const alert = page.getByRole('alert').filter({ hasText: 'no OpenID provider' });
    await alert.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Email').waitFor();
    await page.goto(`${engine.service.url}/studio/?sign_in_error=no_role`);
    await page.getByText('None of your groups has a role here.').waitFor();
    for (const unknown of ['__proto__', 'constructor', 'other']) {
      await page.goto(`${engine.service.url}/studio/?sign_in_error=${unknown}`);
      await page.getByText('The OpenID provider did not sign you in.').waitFor();
    }
    expect(faults.found).toEqual([]);
    await context.close();
  });

  it('shows such a failure once, and keeps the filters in the address', async () => {
    const { context, page } = await openPage(engine.browser);
    await page.goto(`${engine.service.url}/studio/customers?q=Grace&sign_in_error=no_role`);
    const refusal = page.getByText('None of your groups has a role here.');
    await page.waitForURL('**/studio/customers?q=Grace');
    await refusal.waitFor();
    const email = 'later@example.com';
    const admin = { email, name: 'Later', role: 'viewer', passwordHash: PASSWORD_HASH };
    await engine.teller.post('studio', admin);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await refusal.count()).toBe(0);
    await context.close();
  });

  it('shows no such failure after a sign-out if the tab opened with a session', async () => {
    const email = 'earlier@example.com';
    const admin = { email, name: 'Earlier', role: 'viewer', passwordHash: PASSWORD_HASH };
    await engine.teller.post('studio', admin);
    const { page, close } = await engine.signIn(email);
    await page.goto(`${engine.service.url}/studio/customers?q=Grace&sign_in_error=no_role`);
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    expect(new URL(page.url()).search).toBe('?q=Grace');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await close();
  });

  it('accepts an e-mail address of any script at the sign-in', async () => {
    const email = 'ü@bücher.de';
    const admin = { email, name: 'Ü', role: 'viewer', passwordHash: PASSWORD_HASH };
    await engine.teller.post('studio', admin);
    await (await engine.signIn(email)).close();
  });

  it('offers a viewer nothing that a viewer may not do', async () => {
    const viewer = await engine.signIn(await engine.admin('viewer'));
    const { page, faults } = viewer;
    await engine.open(page, `/payments/${payment}`);
    expect(await page.getByRole('button', { name: 'Refund…' }).count()).toBe(0);
    await engine.open(page, `/customers/${customer}`);
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
    expect(await page.getByRole('button', { name: /Edit…|New subscription…|Refund/ }).count()).toBe(
      0,
    );
    await engine.open(page, '/settings');
    await page.getByRole('heading', { name: 'Tax rates' }).waitFor();
    expect(await page.getByRole('heading', { name: /Admins|API keys/ }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(faults.found).toEqual([]);
    await viewer.close();
  });

  it('offers support a refund, but no correction of invoices', async () => {
    const support = await engine.signIn(await engine.admin('support'));
    await engine.open(support.page, `/payments/${payment}`);
    await support.page.getByRole('button', { name: 'Refund…' }).click();
    await support.page.getByLabel('Amount in USD').waitFor();
    expect(await support.page.getByLabel(/With a credit note/).count()).toBe(0);
    await support.close();
  });

  it('asks for a sign-in over the page when the session ends before a change, and keeps what was typed', async () => {
    const owner = await engine.signIn(await engine.admin('owner'));
    const { page, faults } = owner;
    await engine.open(page, `/customers/${customer}`);
    await page.getByRole('button', { name: 'Edit…' }).click();
    const form = page.getByRole('dialog', { name: 'Edit the customer' });
    await form.getByLabel('External id').fill('crm-7');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    const signIn = page.getByRole('dialog', { name: 'Your session has ended. Sign in again.' });
    await signIn.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    for (let time = 0; time < 2; time += 1) await page.keyboard.press('Escape');
    await signIn.getByLabel('Email').fill('owner@example.com');
    await signIn.getByLabel('Password').fill('wrong horse battery staple');
    await page.keyboard.press('Enter');
    await signIn.getByRole('alert').filter({ hasText: 'sign_in_failed' }).waitFor();
    await signIn.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await signIn.waitFor({ state: 'detached' });
    expect(await form.getByLabel('External id').inputValue()).toBe('crm-7');
    await form.getByRole('alert').filter({ hasText: 'Your session had ended.' }).waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await toast(owner, 'Saved.');
    await page.getByText('crm-7').waitFor();
    expect(faults.found).toEqual([]);
    await owner.close();
  });

  it('shows another admin who signs in after the end of a session a page without what was typed', async () => {
    const owner = await engine.signIn('owner@example.com');
    const { page } = owner;
    await engine.open(page, `/customers/${customer}`);
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    const signIn = page.getByRole('dialog', { name: /^Your session has ended/ });
    await signIn.getByLabel('Email').fill('viewer@example.com');
    await signIn.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('Ada · viewer').waitFor();
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await owner.close();
  });

  it('sends a change after another tab has begun another session', async () => {
    const admin = await engine.signIn(await engine.admin('admin'));
    const { page } = admin;
    await engine.open(page, `/customers/${customer}`);
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.evaluate(
      `fetch('/v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify({ email: 'admin@example.com', password: PASSWORD }))} }).then((response) => response.text())`,
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'cross_site_request' }).waitFor();
    // The token of the new session is read meanwhile.
    await untilQuiet(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await toast(admin, 'Saved.');
    await admin.close();
  });

  it('enrols a second factor, shows its recovery codes once, and asks for a code at the next sign-in', async () => {
    const email = 'owner@example.com';
    const owner = await engine.signIn(email);
    const { page, faults } = owner;
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Set up…' }).click();
    const dialog = page.getByRole('dialog');
    const key = await dialog.locator('p.mono').innerText();
    const totp = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) });
    // A link has more style under the pointer.
    await page.mouse.move(0, 0);
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByLabel('Code of your authenticator').fill('000\u00a0000');
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('alert').filter({ hasText: 'second_factor_failed' }).waitFor();
    await dialog.getByLabel('Code of your authenticator').fill(totp.generate());
    const openCustomers = async (): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('Customers');
      await page.getByRole('option', { selected: true }).filter({ hasText: 'Customers' }).waitFor();
      await page.keyboard.press('Enter');
    };
    const held: Route[] = [];
    await page.route('**/v1/second-factor/confirm', (route) => void held.push(route));
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await until('The code is sent', () => Promise.resolve(held.length === 1));
    await openCustomers();
    await dialog.getByRole('status').filter({ hasText: 'Wait for the recovery codes' }).waitFor();
    await held[0]?.continue();
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor();
    const codes = await page.getByRole('dialog').locator('li').allInnerTexts();
    expect(codes).toHaveLength(10);
    await openCustomers();
    await dialog.getByRole('status').filter({ hasText: 'you have kept' }).waitFor();
    await page.evaluate('history.back()');
    await page.waitForURL('**/studio/settings');
    const asked = page.waitForEvent('dialog');
    await page.evaluate('setTimeout(() => location.reload())');
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await untilQuiet(page);
    expect(await page.getByRole('dialog').locator('li').allInnerTexts()).toEqual(codes);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('active', { exact: true }).first().waitFor();
    expect(faults.found).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    const code = page.getByLabel(/^Code of your authenticator/);
    // What is neither six digits nor a recovery code would use up an attempt.
    const signIn = page.getByRole('button', { name: 'Sign in', exact: true });
    for (const typed of ['000 00', '000 0000', '3k7m-9xq2']) {
      await code.fill(typed);
      expect(await signIn.isDisabled()).toBe(true);
    }
    await page.getByText('Six digits, or a recovery code such as').waitFor();
    await code.fill(' 000 000');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Enter');
    expect((await sent).postDataJSON()).toMatchObject({ totp_code: '000000' });
    await page.getByRole('alert').filter({ hasText: 'second_factor_failed' }).waitFor();
    await code.fill(codes[0]?.replaceAll('-', ' ') ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await engine.open(page, '/settings');
    await page.getByRole('button', { name: 'Remove…' }).click();
    const either = dialog.getByLabel(/or a recovery code$/);
    const remove = dialog.getByRole('button', { name: 'Remove' });
    for (const typed of ['', '000 00', '000 0000', '3k7m-9xq2']) {
      await either.fill(typed);
      expect(await remove.isDisabled()).toBe(true);
    }
    await dialog.getByText('Six digits, or a recovery code such as').waitFor();
    await either.fill(codes[1] ?? '');
    await remove.click();
    await page.getByRole('button', { name: 'Set up…' }).waitFor();
    await owner.close();
  });
});
