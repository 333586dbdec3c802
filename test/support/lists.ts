import type { TestApp } from './test-app';

export interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface ListPage {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** Reads lists of the API, and creates their items. */
export class Lists {
  constructor(private readonly engine: TestApp) {}

  async page(path: string): Promise<ListPage> {
    const answer = await this.engine.http.get(`/v1/${path}`);
    expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    return answer.body as ListPage;
  }

  async ids(path: string): Promise<readonly string[]> {
    return (await this.page(path)).data.map(({ id }) => id);
  }

  /** Reads all pages of a list, two items at a time. */
  async walk(path: string): Promise<readonly string[]> {
    const found: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const part: ListPage = await this.page(
        `${path}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(part.data.length).toBeLessThanOrEqual(2);
      found.push(...part.data.map(({ id }) => id));
      cursor = part.next_cursor;
    }
    return found;
  }

  async post(path: string, body: object = {}): Promise<Row> {
    const answer = await this.engine.http.post(`/v1/${path}`).send(body);
    expect(answer.status).toBeLessThan(300);
    return answer.body as Row;
  }
}
