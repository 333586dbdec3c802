import { createCustomer } from '../support/billing';
import { Lists } from '../support/lists';
import { startTestApp, type TestApp } from '../support/test-app';

const ORDERS = ['-created_at', 'created_at', 'name', '-name'];

describe('pages of a list', () => {
  let engine: TestApp;
  let lists: Lists;

  beforeEach(async () => {
    engine = await startTestApp();
    lists = new Lists(engine);
  });

  afterEach(() => engine.close());

  /** Names are shared by three customers each, so that pages also end between equal values. */
  async function customers(count: number): Promise<readonly string[]> {
    const made: string[] = [];
    for (let index = 0; index < count; index += 1) {
      made.push(await createCustomer(engine, { name: `Customer ${Math.floor(index / 3)}` }));
    }
    return made;
  }

  /** Reads a list to its end, two customers at a time, and does something after each page. */
  async function walk(sort: string, afterPage: (page: number) => Promise<void>): Promise<string[]> {
    const read: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page += 1) {
      const after = cursor === '' ? '' : `&cursor=${cursor}`;
      const part = await lists.page(`customers?sort=${sort}&limit=2${after}`);
      read.push(...part.data.map(({ id }) => id));
      cursor = part.next_cursor;
      if (page < 20) await afterPage(page);
    }
    return read;
  }

  it.each(ORDERS)('by %s have each row once while others are made', async (sort) => {
    const made = await customers(9);
    const read = await walk(sort, async (page) => {
      await createCustomer(engine, { name: `Customer ${page % 4}` });
    });
    expect(new Set(read).size).toBe(read.length);
    expect(made.filter((id) => !read.includes(id))).toEqual([]);
  });

  it.each(ORDERS)('by %s continue after a cursor whose row was deleted', async (sort) => {
    const made = await customers(9);
    const read: string[] = [];
    const deleted: string[] = [];
    await walk(sort, async () => undefined).then((all) => read.push(...all));
    expect(read.toSorted()).toEqual(made.toSorted());
    const first = await lists.page(`customers?sort=${sort}&limit=2`);
    for (const { id } of first.data) {
      await engine.http.delete(`/v1/customers/${id}`).expect(204);
      deleted.push(id);
    }
    const rest = await lists.page(`customers?sort=${sort}&limit=20&cursor=${first.next_cursor}`);
    expect(rest.data.map(({ id }) => id)).toEqual(read.filter((id) => !deleted.includes(id)));
  });
});
