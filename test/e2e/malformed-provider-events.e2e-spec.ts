import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { startTestApp, type TestApp } from '../support/test-app';

const SECRET = 'whsec_malformed';

/** A signature proves who sent an event, not that the event has a form that can be stored. */
describe('signed events of Stripe', () => {
  let engine: TestApp;
  let stripe: StripeDouble;

  beforeAll(async () => {
    stripe = await startStripeDouble({ now: () => engine.clock.now() });
    engine = await startTestApp({
      environment: {
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
        STRIPE_WEBHOOK_SECRETS: SECRET,
      },
    });
  });

  afterAll(async () => {
    await engine.close();
    await stripe.close();
  });

  async function statusOf(payload: string): Promise<number> {
    const timestamp = Math.floor(engine.clock.now().getTime() / 1_000);
    const header = { payload, secret: SECRET, timestamp };
    const { status } = await engine.http
      .post('/v1/providers/stripe/webhooks')
      .set('Content-Type', 'application/json')
      .set('Stripe-Signature', stripe.client().webhooks.generateTestHeaderString(header))
      .send(payload);
    return status;
  }

  const event = (fields: object): string =>
    JSON.stringify({
      id: 'evt_odd',
      object: 'event',
      type: 'refund.created',
      created: 1_767_225_600,
      livemode: false,
      data: { object: { id: 're_1', metadata: {} } },
      ...fields,
    });

  const stored = () => engine.database.query('SELECT id FROM provider_event');

  it.each([
    ['no data', { data: undefined }],
    ['data that are null', { data: null }],
    ['data that are a number', { data: 5 }],
    ['an object that is null', { data: { object: null } }],
    ['no type', { type: undefined }],
    ['no id', { id: undefined }],
    ['a number as id', { id: 5 }],
    [
      'the form of a thin event',
      { object: 'v2.core.event', data: undefined, created: '2026-03-01T12:00:00Z' },
    ],
    ['no time', { created: undefined }],
    ['a text as time', { created: 'now' }],
    ['a fraction as time', { created: 0.5 }],
    ['a time before 1970', { created: -1e12 }],
    ['a time after the year 9999', { created: 253_402_300_800 }],
    ['a time in milliseconds', { created: 253_402_300_800_000 }],
    ['a time beyond all dates', { created: 1e30 }],
    ['the id of a connected account', { account: 'acct_1' }],
  ])('with %s are ignored', async (_, fields) => {
    expect(await statusOf(event(fields))).toBe(204);
    expect(await stored()).toEqual([]);
  });

  it('of a mode alone are ignored', async () => {
    expect(await statusOf('{"livemode":false}')).toBe(204);
  });

  it.each(['null', '5', '[]', '{}'])('that are %s are refused', async (payload) => {
    expect(await statusOf(payload)).toBe(401);
  });

  it('of the last second of the year 9999 are stored', async () => {
    expect(await statusOf(event({ created: 253_402_300_799 }))).toBe(204);
    expect(await stored()).toEqual([{ id: 'evt_odd' }]);
  });
});
