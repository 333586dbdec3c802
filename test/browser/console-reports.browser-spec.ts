import type { Page } from 'playwright-core';
import type { PageFaults } from '../support/browser';
import { RunningConsole } from '../support/running-console';

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

  it('link customers, but for deleted ones', async () => {
    for (const [name, amount] of [
      ['Owing Ltd', 200],
      ['Gone Ltd', 100],
    ] as const) {
      const { id } = await engine.teller.post('customers', { name });
      const invoice = await engine.teller.post('invoices', {
        customer_id: id,
        currency: 'USD',
        collection: 'send_invoice',
        lines: [{ description: 'Workshop', amount }],
      });
      await engine.teller.post(`invoices/${invoice.id}/finalize`, {});
    }
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
});
