import type { Page } from 'playwright-core';
import { type PageFaults, violationsOf } from '../support/browser';
import { RunningConsole } from '../support/running-console';

/** Customers of each month that the report of revenue shows. */
const GROUPS_SHOWN = 20;
/** Cell with the earned revenue in a row of the report by customer. */
const EARNED_CELL = 4;
/** Maximum number of customers of a currency that the service lists as owing. */
const MAX_OWING = 100;

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the reports of the console', () => {
  let engine: RunningConsole;
  let page: Page;
  let faults: PageFaults;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  /** Creates a customer with an open invoice. */
  async function owes(name: string, amount: number): Promise<void> {
    const { id } = await engine.teller.post('customers', { name });
    const invoice = await engine.teller.post('invoices', {
      customer_id: id,
      currency: 'USD',
      collection: 'send_invoice',
      lines: [{ description: 'Workshop', amount }],
    });
    await engine.teller.post(`invoices/${invoice.id}/finalize`, {});
  }

  it('link customers, but for deleted ones', async () => {
    await owes('Owing Ltd', 200);
    await owes('Gone Ltd', 100);
    await engine.query(`UPDATE customer SET deleted_at = now() WHERE name = 'Gone Ltd'`);
    await engine.open(page, '/reports');
    await page.getByLabel('Group', { exact: true }).selectOption('customer');
    for (const label of ['Who owes', 'Revenue']) {
      const table = page.getByRole('region', { name: `${label}, table` });
      await table.getByText('Gone Ltd (deleted)').waitFor();
      expect(await table.getByRole('link').allInnerTexts()).toEqual(['Owing Ltd']);
    }
    expect(faults.found).toEqual([]);
  });

  it('add up to the month when there are more customers than revenue shows', async () => {
    for (let number = 0; number < GROUPS_SHOWN; number += 1)
      await owes(`Large ${number} Ltd`, 1_000);
    await engine.open(page, '/reports');
    const table = page.getByRole('region', { name: 'Revenue, table' });
    const earned = (text: string): Promise<string> =>
      table
        .getByRole('row')
        .filter({ hasText: text })
        .getByRole('cell')
        .nth(EARNED_CELL)
        .innerText();
    await page.getByLabel('Group', { exact: true }).selectOption('customer');
    expect(await earned('All other customers')).toBe('$3.00');
    expect(await earned('Total')).toBe('$203.00');
    expect(await table.getByRole('link').count()).toBe(GROUPS_SHOWN);
    await page.getByLabel('Group', { exact: true }).selectOption('none');
    await table.getByText('All customers').first().waitFor({ state: 'detached' });
    const total = table.getByRole('row').filter({ hasText: 'Total' });
    expect(await total.innerText()).toContain('$203.00');
    expect(faults.found).toEqual([]);
  });

  it('say that only the customers who owe most are shown, with a link to all of them', async () => {
    const card = page.getByRole('region', { name: 'Who owes', exact: true });
    await owes('One of many Ltd', 100);
    await engine.open(page, '/reports');
    await card.getByRole('link', { name: 'One of many Ltd' }).waitFor();
    expect(await card.getByText('who owe most').count()).toBe(0);
    // Repeats a row, because creating many invoices through the API is slow.
    await page.route('**/v1/analytics/receivables?group_by=customer*', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { readonly data: readonly object[] };
      const data = Array.from({ length: MAX_OWING }, (_, number) => ({
        ...answer.data[0],
        customer_id: `cus_${number}`,
      }));
      await route.fulfill({ response, json: { ...answer, data } });
    });
    await engine.open(page, '/reports');
    await card
      .getByText('At most 100 customers who owe USD are shown, those who owe most.')
      .waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await card.getByRole('link', { name: 'All customers who owe now' }).click();
    await page.waitForURL('**/customers?owing=true');
    expect(faults.found).toEqual([]);
  });
});
