import type { Counter } from 'prom-client';
import { Metrics } from '../../src/platform/observability';
import { createCustomer } from '../support/billing';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';

interface Pdf {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

describe('GET /v1/invoices/{id}.pdf', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { SELLER_NAME: 'Analytical Engines', SELLER_ADDRESS: 'Line 1|Line 2' },
    });
  });

  afterAll(() => engine.close());

  async function draft(customer: string): Promise<string> {
    const answer = await engine.http
      .post('/v1/invoices')
      .send({ customer_id: customer, lines: [{ description: 'Setup — Настройка', amount: 5000 }] });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  const buyer = (): Promise<string> =>
    createCustomer(engine, {
      name: 'Αλέξανδρος 株式会社',
      currency: 'EUR',
      timezone: 'Asia/Tokyo',
    });

  const print = async (id: string): Promise<Pdf> =>
    await engine.http.get(`/v1/invoices/${id}.pdf`).buffer(true);

  it('returns the same bytes twice, in a file named after the invoice number', async () => {
    const id = await draft(await buyer());
    const { body } = await engine.http.post(`/v1/invoices/${id}/finalize`);
    const { number } = body as { number: string };
    const first = await print(id);
    expect(first.status).toBe(200);
    expect(first.headers['content-type']).toBe('application/pdf');
    expect(first.headers['content-disposition']).toBe(`inline; filename="${number}.pdf"`);
    expect(first.body.subarray(0, 5).toString()).toBe('%PDF-');
    const second = await print(id);
    expect(second.body.equals(first.body)).toBe(true);
    expect(second.headers['etag']).toBe(first.headers['etag']);
  });

  const counted = async (name: string): Promise<number> => {
    const { text } = await engine.http.get('/metrics');
    const [, count] = new RegExp(`^${name} (\\d+)$`, 'm').exec(text) ?? [];
    return Number(count);
  };

  it('counts finalized invoices with characters that no font has, before anyone prints them', async () => {
    const found = (): Promise<number> => counted('invoices_finalized_with_missing_glyphs_total');
    const known = await draft(await createCustomer(engine, { currency: 'EUR', name: 'Zoë\tΑβγ' }));
    const unknown = await draft(await buyer());
    const before = await found();
    await engine.http.post(`/v1/invoices/${known}/finalize`);
    expect(await found()).toBe(before);
    await engine.http.post(`/v1/invoices/${unknown}/finalize`);
    expect(await found()).toBe(before + 1);
  });

  it('finalizes an invoice although its characters could not be checked', async () => {
    const id = await draft(await buyer());
    const name = 'invoices_finalized_with_missing_glyphs_total';
    const counter = engine.app.get(Metrics).registry.getSingleMetric(name) as Counter;
    const failing = jest.spyOn(counter, 'inc').mockImplementationOnce(() => {
      throw new Error('The counter is broken.');
    });
    const { status, body } = await engine.http.post(`/v1/invoices/${id}/finalize`);
    expect(failing).toHaveBeenCalledTimes(1);
    failing.mockRestore();
    expect([status, (body as { status?: string }).status]).toEqual([200, 'open']);
  });

  it('counts printed invoices with characters that no font has', async () => {
    const printed = (): Promise<number> => counted('invoice_prints_with_missing_glyphs_total');
    const known = await draft(await createCustomer(engine, { currency: 'EUR' }));
    const unknown = await draft(await buyer());
    const before = await printed();
    await print(known);
    expect(await printed()).toBe(before);
    await print(unknown);
    expect(await printed()).toBe(before + 1);
  });

  it('returns 304 to a caller that has it, and a new print after the invoice changed', async () => {
    const id = await draft(await buyer());
    const before = (await print(id)).headers['etag'] ?? '';
    const path = `/v1/invoices/${id}.pdf`;
    expect((await engine.http.get(path).set('If-None-Match', before)).status).toBe(304);
    await engine.http.post(`/v1/invoices/${id}/finalize`);
    expect((await engine.http.get(path).set('If-None-Match', before)).status).toBe(200);
  });

  it('prints the buyer and seller as they were when the invoice was finalized', async () => {
    const customer = await buyer();
    const [kept, later] = [await draft(customer), await draft(customer)];
    await engine.http.post(`/v1/invoices/${kept}/finalize`);
    const before = [await print(kept), await print(later)];
    const address = { line1: '1 New Street', city: 'Athens', country: 'GR' };
    const moved = await engine.http
      .patch(`/v1/customers/${customer}`)
      .send({ name: 'New Name', timezone: 'Europe/Athens', address });
    expect(moved.status).toBe(200);
    const after = [await print(kept), await print(later)];
    expect(after[0]?.body.equals(before[0]?.body ?? Buffer.of())).toBe(true);
    expect(after[1]?.body.equals(before[1]?.body ?? Buffer.of())).toBe(false);
    const another = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: { SELLER_NAME: 'Somebody Else' },
    });
    const { body } = await another.http.get(`/v1/invoices/${kept}.pdf`).buffer(true);
    await another.close();
    expect((body as Buffer).equals(before[0]?.body ?? Buffer.of())).toBe(true);
  });

  it('prints a draft under its id', async () => {
    const id = await draft(await buyer());
    const { headers } = await print(id);
    expect(headers['content-disposition']).toBe(`inline; filename="${id}.pdf"`);
  });

  it('prints the invoice of a deleted customer', async () => {
    const customer = await buyer();
    const id = await draft(customer);
    await engine.http.post(`/v1/invoices/${id}/finalize`);
    expect((await engine.http.delete(`/v1/customers/${customer}`)).status).toBe(204);
    expect((await print(id)).status).toBe(200);
  });

  it.each(['inv_01h455vb4pex5vsknk084sn02q', 'nonsense'])('%s gives 404', async (id) => {
    const { status, body } = await engine.http.get(`/v1/invoices/${id}.pdf`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'invoice_not_found' });
  });

  it('does not affect the route of the invoice itself', async () => {
    const id = await draft(await buyer());
    const { status, body } = await engine.http.get(`/v1/invoices/${id}`);
    expect([status, (body as { id: string }).id]).toEqual([200, id]);
  });
});

it('a customer token prints one invoice at a time, and others still print', async () => {
  const engine = await startTestApp({ environment: WITH_KEYS });
  const owner = bearing(BOOTSTRAP_KEY);
  const { body: customer } = await engine.http
    .post('/v1/customers')
    .set(owner)
    .send({ name: 'Ada', currency: 'EUR' })
    .expect(201);
  const { id } = customer as { id: string };
  const { body: invoice } = await engine.http
    .post('/v1/invoices')
    .set(owner)
    .send({ customer_id: id, lines: [{ description: 'Setup', amount: 5000 }] })
    .expect(201);
  const issued = await engine.http.post(`/v1/customers/${id}/tokens`).set(owner).send({});
  const { token } = issued.body as { token: string };
  const print = (secret: string) =>
    engine.http.get(`/v1/invoices/${(invoice as { id: string }).id}.pdf`).set(bearing(secret));
  const [own, ...others] = await Promise.all([
    print(BOOTSTRAP_KEY),
    ...Array.from({ length: 20 }, () => print(token)),
  ]);
  expect(own.status).toBe(200);
  const statuses = others.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect((await print(token)).status).toBe(200);
  await engine.close();
});
