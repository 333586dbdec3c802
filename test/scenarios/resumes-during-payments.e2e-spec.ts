import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';

/** Attempts that failed during a pause count when the subscription resumes, whatever is paid manually meanwhile. */
describe('a subscription that resumes while its invoice is being paid', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it.each([
    [
      'past due after a failed attempt',
      'pm_sandbox_declined',
      '2026-03-01T12:00:00.000Z',
      'past_due',
      ['subscription.past_due'],
    ],
    [
      'unpaid after the last one',
      'pm_sandbox_declined',
      '2026-03-20T00:00:00.000Z',
      'unpaid',
      ['subscription.updated'],
    ],
    ['active during the first one', 'pm_sandbox_pending', '2026-03-01T12:00:00.000Z', 'active', []],
  ])('is %s', async (_, token, at, status, eventsOfStatus) => {
    const story = await Story.begin(engine, START);
    await engine.http
      .post(`/v1/customers/${story.customerId}/payment-methods`)
      .send({ provider: 'sandbox', token, is_default: true })
      .expect(201);
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.command(id, 'pause');
    await story.advance(at);
    const [invoice] = await story.invoices();
    const path = `/v1/invoices/${invoice?.id ?? ''}/pay`;
    // During an attempt nothing is left to pay.
    await engine.http
      .post(path)
      .send({ payment_method_id: 'pm_sandbox_pending' })
      .expect(status === 'active' ? 409 : 201);
    expect((await story.command(id, 'resume')).status).toBe(status);
    const types = (await eventsOf(engine, id)).map(({ type }) => type);
    const resumed = types.indexOf('subscription.resumed');
    expect(types.slice(resumed)).toEqual(['subscription.resumed', ...eventsOfStatus]);
    await story.verify();
  });

  it('is past due if attempts are left, although none is planned without a default method', async () => {
    const story = await Story.begin(engine, START);
    const methods = `/v1/customers/${story.customerId}/payment-methods`;
    const { body } = await engine.http
      .post(methods)
      .send({ provider: 'sandbox', token: 'pm_sandbox_declined', is_default: true })
      .expect(201);
    const { id } = await story.subscribe(await story.plan(1_000));
    await story.command(id, 'pause');
    await story.advance('2026-03-01T12:00:00.000Z');
    await engine.http.delete(`${methods}/${(body as { id: string }).id}`).expect(204);
    await story.advance('2026-03-20T00:00:00.000Z');
    expect((await story.command(id, 'resume')).status).toBe('past_due');
  });
});
