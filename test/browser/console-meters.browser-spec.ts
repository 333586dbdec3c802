import type { Page } from 'playwright-core';
import { gatewayError, type PageFaults, untilQuiet, violationsOf } from '../support/browser';
import { RunningConsole } from '../support/running-console';

const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1360, height: 900 };

// A busy machine takes many times as long as a quiet one.
jest.setTimeout(240_000);

describe('the console of meters', () => {
  let engine: RunningConsole;
  let page: Page;
  let faults: PageFaults;

  beforeAll(async () => {
    engine = await RunningConsole.start();
    ({ page, faults } = await engine.signIn(await engine.admin('owner')));
  });

  afterAll(() => engine.stop());

  afterEach(() => {
    expect(faults.found.splice(0)).toEqual([]);
  });

  it('shows the usage of all customers of a meter, by group, and who used most', async () => {
    const meter = await engine.teller.post('meters', {
      key: 'tokens',
      name: 'Tokens',
      event_name: 'tokens',
      aggregation: 'sum',
      value_property: 'n',
      group_by: ['model'],
    });
    const long = 'Long name '.repeat(20).trim();
    for (const [name, n, model] of [
      ['Most Ltd', 12, 'large'],
      [long, 4, 'small'],
      ['Gone Ltd', 1, 'small'],
    ] as const) {
      const { id } = await engine.teller.post('customers', { name });
      await engine.teller.post('usage-events', {
        idempotency_key: `tokens-${id}`,
        customer_id: id,
        event_name: 'tokens',
        timestamp: new Date().toISOString(),
        properties: { n, model },
      });
    }
    await engine.query(`UPDATE customer SET deleted_at = now() WHERE name = 'Gone Ltd'`);
    await engine.open(page, `/meters/${meter.id}`);
    await page.getByRole('img', { name: 'Tokens: 17', exact: true }).waitFor();
    await page.getByLabel('Group by').selectOption('model');
    await page.getByRole('img', { name: 'Tokens: 17, by model' }).waitFor();
    await page.locator('figure').getByText('large').waitFor();
    const table = page.getByRole('region', { name: 'Top customers, table' });
    const rows = await table.locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split('\t'))).toEqual([
      ['Most Ltd', '12'],
      [long, '4'],
      ['Gone Ltd (deleted)', '1'],
    ]);
    expect(await table.getByRole('link').allInnerTexts()).toEqual(['Most Ltd', long]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    await page.setViewportSize(NARROW);
    const name = await table.getByRole('link', { name: long }).boundingBox();
    // The name wraps within the screen, instead of being cut off.
    expect(name?.height).toBeGreaterThan(40);
    expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(NARROW.width);
    await page.setViewportSize(WIDE);
  });

  it.each(['unique', 'max', 'sum'])(
    'shows the usage of a customer of a %s meter by group only if groups add up, with all digits',
    async (aggregation) => {
      const { id: meter } = await engine.teller.post('meters', {
        key: aggregation,
        name: aggregation,
        event_name: aggregation,
        aggregation,
        value_property: 'n',
        group_by: ['model'],
      });
      const { id } = await engine.teller.post('customers', { name: `Using ${aggregation}` });
      for (const model of ['large', 'small']) {
        await engine.teller.post('usage-events', {
          idempotency_key: `${model}-${id}`,
          customer_id: id,
          event_name: aggregation,
          timestamp: new Date().toISOString(),
          properties: { n: aggregation === 'unique' ? 'ada' : '0.0004', model },
        });
      }
      await engine.open(page, `/customers/${id}`);
      const usage = page.getByRole('region', { name: 'Usage', exact: true });
      await usage.getByLabel('Meter').selectOption(meter);
      await untilQuiet(page);
      await usage.getByText('Show as a table').click();
      const shown = async (selector: string): Promise<readonly string[]> =>
        usage.locator(selector).allInnerTexts();
      const cells = await shown('tbody td.number');
      expect([await shown('thead th.number'), cells.filter((cell) => cell !== '0')]).toEqual(
        {
          unique: [['all (unique)'], ['1']],
          max: [['all (max)'], ['0.0004']],
          sum: [
            ['large (sum)', 'small (sum)'],
            ['0.0004', '0.0004'],
          ],
        }[aggregation],
      );
    },
  );

  it('shows the usage of a customer on its day in UTC, whatever the time zone of the customer', async () => {
    const { teller } = engine;
    const meter = await teller.post('meters', {
      key: 'peak',
      name: 'Peak',
      event_name: 'peak',
      aggregation: 'max',
      value_property: 'n',
    });
    const now = '2031-05-06T20:40:00Z';
    const clock = await teller.post('test-clocks', { name: 'Evening', now });
    const { id } = await teller.post('customers', {
      name: 'Indian Ltd',
      timezone: 'Asia/Kolkata',
      test_clock_id: clock.id,
    });
    for (const [timestamp, n] of [
      ['2031-04-06T18:00:00Z', 10],
      ['2031-04-06T19:00:00Z', 12],
      ['2031-05-06T20:10:00Z', 3],
      ['2031-05-06T20:35:00Z', 5],
    ] as const)
      await teller.post('usage-events', {
        idempotency_key: `${timestamp}-${id}`,
        customer_id: id,
        event_name: 'peak',
        timestamp,
        properties: { n },
      });
    await engine.open(page, `/customers/${id}`);
    const usage = page.getByRole('region', { name: 'Usage', exact: true });
    await usage.getByLabel('Meter').selectOption(meter.id);
    const shown = async (): Promise<readonly (readonly string[])[]> => {
      await untilQuiet(page);
      await usage.getByText('Show as a table').click();
      const rows = await usage.locator('tbody tr').allInnerTexts();
      return rows.map((row) => row.split('\t')).filter(([, value]) => value !== '0');
    };
    expect(await shown()).toEqual([
      ['2031-04-06', '12'],
      ['2031-05-06', '5'],
    ]);
    await usage.getByLabel('Time (UTC)').selectOption('hour');
    expect(await shown()).toEqual([['2031-05-06 20:00', '5']]);
  });

  it('does not show the usage of the present day while the test clock is not known', async () => {
    const { teller } = engine;
    const clock = await teller.post('test-clocks', { name: 'Lost', now: '2031-05-06T10:00:00Z' });
    const { id } = await teller.post('customers', { name: 'Lost', test_clock_id: clock.id });
    await page.route('**/v1/test-clocks/*', (route) => route.fulfill(gatewayError(404)));
    await engine.open(page, `/customers/${id}`);
    const usage = page.getByRole('region', { name: 'Usage', exact: true });
    await usage.getByText('the test clock could not be read').waitFor();
    expect(await usage.getByLabel('Meter').count()).toBe(0);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await usage.getByLabel('Meter').waitFor();
  });

  it('counts the events of today by the test clock of the customer', async () => {
    const { teller } = engine;
    const meter = await teller.post('meters', {
      key: 'pages',
      name: 'Pages',
      event_name: 'pages',
      aggregation: 'count',
    });
    const now = '2031-05-06T10:00:00Z';
    const clock = await teller.post('test-clocks', { name: 'Later', now });
    const onClock = await teller.post('customers', {
      name: 'Clocked Ltd',
      test_clock_id: clock.id,
    });
    const other = await teller.post('customers', { name: 'Now Ltd' });
    const today = new Date().toISOString();
    for (const [{ id }, timestamp] of [
      [onClock, now],
      [other, today],
    ] as const) {
      await teller.post('usage-events', {
        idempotency_key: `pages-${id}`,
        customer_id: id,
        event_name: 'pages',
        timestamp,
      });
    }
    // The day of the events is the day of the page, also if the test runs over midnight.
    const owner = await engine.signIn('owner@example.com');
    await owner.page.clock.setFixedTime(today);
    await engine.open(owner.page, `/meters/${meter.id}`);
    const card = owner.page.getByRole('region', { name: /^Proof of usage/ });
    const counted = async (id: string): Promise<readonly string[]> => {
      await card.getByLabel('Customer id').fill(id);
      await card.getByRole('button', { name: 'Count' }).click();
      await untilQuiet(owner.page);
      return (await card.locator('dl > div').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' '),
      );
    };
    const onItsDay = await counted(onClock.id);
    expect(onItsDay).toContain('Day (UTC) May 6, 2031');
    expect(onItsDay).toContain('Accepted 1');
    expect(await violationsOf(owner.page)).toEqual([]);
    expect(await counted(other.id)).toContain('Accepted 1');
    await owner.page.route('**/v1/customers/*', (route) => route.fulfill(gatewayError(404)));
    await engine.open(owner.page, `/meters/${meter.id}`);
    expect(await counted(onClock.id)).toEqual([]);
    await card.getByText('The service answered 404.').waitFor();
    await owner.page.unrouteAll();
    await teller.change('DELETE', `customers/${other.id}`);
    await engine.open(owner.page, `/meters/${meter.id}`);
    expect(await counted(other.id)).toContain('Accepted 1');
    expect(owner.faults.found).toEqual([]);
    await owner.close();
  });

  it('keeps groups apart whose values are the words for the rest and for no value', async () => {
    const meter = await engine.teller.post('meters', {
      key: 'words',
      name: 'Words',
      event_name: 'words',
      aggregation: 'sum',
      value_property: 'n',
      group_by: ['word'],
    });
    const { id } = await engine.teller.post('customers', { name: 'Words Ltd' });
    const used: [number, string | null][] = [
      [1_000, 'all others'],
      [500, 'none'],
      [400, null],
      [300, '"all others"'],
      ...Array.from({ length: 20 }, (_, index): [number, string] => [1, `small ${index}`]),
    ];
    for (const [index, [n, word]] of used.entries()) {
      await engine.teller.post('usage-events', {
        idempotency_key: `words-${index}`,
        customer_id: id,
        event_name: 'words',
        timestamp: new Date().toISOString(),
        properties: { n, ...(word !== null && { word }) },
      });
    }
    await engine.open(page, `/meters/${meter.id}`);
    await page.getByLabel('Group by').selectOption('word');
    const chart = page.locator('figure');
    await chart.getByRole('img', { name: /^Words: 2,220, by word/ }).waitFor();
    await chart.getByText('Show as a table').click();
    const names = await chart.locator('thead th').allInnerTexts();
    const totals = new Map<string, number>();
    for (const row of await chart.locator('tbody tr').all()) {
      const cells = await row.locator('th, td').allInnerTexts();
      cells.forEach((cell, index) => {
        const name = names[index]?.replace(' (words)', '') ?? '';
        totals.set(name, (totals.get(name) ?? 0) + (Number(cell.replace(',', '')) || 0));
      });
    }
    const shown = Object.fromEntries([...totals].filter(([, total]) => total >= 2));
    expect(shown).toEqual({
      '"all others"': 1_000,
      '"none"': 500,
      none: 400,
      '"\\"all others\\""': 300,
      // One of the twenty is among the five largest groups.
      'all others': 19,
    });
  });
});
