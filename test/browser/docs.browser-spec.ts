import type { Browser } from 'playwright-core';
import { launchChromium, openPage } from '../support/browser';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the Swagger UI', () => {
  let database: TestDatabase;
  let service: RunningService;
  let browser: Browser;

  beforeAll(async () => {
    [database, browser] = await Promise.all([createTestDatabase(), launchChromium()]);
    service = await RunningService.start(database.url);
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
    await database.drop();
  });

  it('shows an operation with its schemas, and sends its example', async () => {
    const { context, page, faults } = await openPage(browser);
    await page.goto(`${service.url}/docs`);
    await page.getByPlaceholder('Filter by tag').fill('Tax rates');
    const create = page.locator('[id="operations-Tax_rates-createTaxRate"]');
    await create.locator('.opblock-summary-control').click();
    await create.getByRole('button', { name: 'Execute' }).click();
    await create
      .locator('.live-responses-table .response-col_status', { hasText: '201' })
      .waitFor();

    const schema = create.locator('.responses-inner .model-example').first();
    await schema.getByText('Schema', { exact: true }).click();
    await schema.locator('.json-schema-2020-12__title, .model-title').first().waitFor();
    expect(await create.innerText()).not.toContain('$ref');
    expect(faults.found).toEqual([]);
    await context.close();
  });

  it('shows the events that webhooks receive on request', async () => {
    const { context, page, faults } = await openPage(browser);
    await page.goto(`${service.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('.webhooks').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the events' }).click();
    await page.locator('.webhooks .opblock', { hasText: 'invoice.finalized' }).first().waitFor();
    expect(faults.found).toEqual([]);
    await context.close();
  });

  it('offers every way to authorize', async () => {
    const { context, page, faults } = await openPage(browser);
    await page.goto(`${service.url}/docs`);
    await page.locator('.auth-wrapper .authorize').first().click();
    const ways = page.locator('.auth-container h4 code');
    await ways.first().waitFor();
    const names = await ways.allInnerTexts();
    expect(names.sort()).toEqual(['basic', 'bearer', 'csrf', 'session']);
    expect(faults.found).toEqual([]);
    await context.close();
  });
});
