import { type INestApplication, ValidationPipe } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import type TestAgent from 'supertest/lib/agent';
import type { Server } from 'node:http';
import { AppModule } from '../../src/app.module';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Returns a field of the body of an answer. */
const field = ({ body }: Answer, name: string): unknown =>
  (body as Readonly<Record<string, unknown>>)[name];

/** A suite as the user of the module writes it: it knows nothing of this project but the module and the API. */
describe('an application made from AppModule alone', () => {
  let app: INestApplication;
  let api: TestAgent;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication({ logger: false });
    app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
    await app.init();
    api = request(app.getHttpServer() as Server);
  });

  afterAll(() => app.close());

  it('serves the five operations of the specification', async () => {
    const addon = await api
      .post('/v1/addons')
      .send({ code: 'storage', name: 'Storage', currency: 'USD', prices: [] });
    const addonId = String(field(addon, 'id'));
    const links = await api.get('/v1/addon-entitlements').query({ addon_id: addonId });
    expect([links.status, links.body]).toEqual([200, []]);

    const admin = await api.post('/v1/studio').send({
      email: 'ada@example.com',
      name: 'Ada',
      passwordHash: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
    });
    const renamed = await api
      .patch(`/v1/studio/${String(field(admin, 'id'))}`)
      .send({ name: 'Ada Lovelace' });
    expect([renamed.status, field(renamed, 'name')]).toEqual([200, 'Ada Lovelace']);

    const coupon = await api.post('/v1/coupons').send({
      code: 'welcome',
      name: 'Welcome',
      type: 'percent',
      percent_off: '10',
      duration: 'once',
    });
    const changed = await api
      .patch(`/v1/coupons/${String(field(coupon, 'id'))}`)
      .send({ is_active: false, metadata: { a: { b: [1] } } });
    expect([changed.status, field(changed, 'is_active')]).toEqual([200, false]);

    const endpoint = await api
      .post('/v1/webhooks/endpoints')
      .send({ url: 'https://example.com/hooks', events: ['invoice.paid'] });
    expect([endpoint.status, field(endpoint, 'success')]).toEqual([201, true]);

    const refund = await api.post('/v1/refunds/payment/none').send({ amount: 1 });
    expect([refund.status, field(refund, 'code')]).toEqual([404, 'payment_not_found']);
  });

  it('answers errors as problems, and refuses bodies as the service does', async () => {
    const unread = await api
      .post('/v1/coupons')
      .set('Content-Type', 'application/json')
      .send('{"code":');
    expect([unread.status, field(unread, 'code')]).toEqual([400, 'malformed_request']);
    const form = await api.post('/v1/coupons').type('form').send({ code: 'a' });
    expect([form.status, field(form, 'code')]).toEqual([415, 'unsupported_media_type']);
    const unknown = await api.get('/v1/nothing');
    expect([unknown.status, field(unknown, 'code')]).toEqual([404, 'route_not_found']);
    expect(unknown.headers['content-type']).toContain('application/problem+json');
  });

  it('publishes Swagger UI and the OpenAPI document', async () => {
    const document = await api.get('/openapi.json');
    expect(Object.keys(field(document, 'paths') as object)).toContain(
      '/v1/refunds/payment/{paymentId}',
    );
    const page = await api.get('/docs');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('swagger-ui')]);
  });
});
