import { createCoupon, redemptionOf } from '../support/coupons';
import { startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

/** 100 calls at 0.10 in January are billed on 4 February, with a coupon that takes half off one invoice. */
describe('a used-up coupon of an ended subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function billed() {
    const coupon = await createCoupon(engine, {
      type: 'percent',
      percent_off: '50',
      duration: 'once',
    });
    const story = await Story.begin(engine, on('01-01'), {
      currency: 'USD',
      invoice_grace_hours: 72,
    });
    const { id: meter_id, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10', meter_id },
    ]);
    const { id } = await story.subscribe(planId, {
      collection: 'send_invoice',
      coupon: coupon.code,
    });
    await story.advance(on('01-10'));
    await story.reportUsage(event, on('01-03'), { n: 90 });
    const idempotency_key = await story.reportUsage(event, on('01-04'), { n: 10 });
    await story.advance(on('02-05'));
    await story.reportUsage(event, on('02-04'), { n: 1 });
    return {
      story,
      cancel: (when: string) => story.command(id, 'cancel', { when }),
      redemption: () => redemptionOf(engine, coupon.id),
      voidTenCalls: () =>
        engine.http.post('/v1/usage-events/void').send({ idempotency_key }).expect(200),
    };
  }

  it('stays ended when the last draft returns a discount', async () => {
    const { story, cancel, redemption, voidTenCalls } = await billed();
    await voidTenCalls();
    await cancel('period_end');
    await story.advance(on('03-02'));
    expect(await redemption()).toMatchObject({ applied_amount: 500, ended_at: on('02-04') });
    await story.advance(on('03-05'));
    expect(await story.amounts()).toEqual([[1_000], [10, -50]]);
    expect(await redemption()).toMatchObject({ applied_amount: 450, ended_at: on('03-01') });
    await story.verify();
  });

  it('stays ended when an invoice of late usage returns a discount', async () => {
    const { story, cancel, redemption, voidTenCalls } = await billed();
    await cancel('now');
    await voidTenCalls();
    expect(await redemption()).toMatchObject({ applied_amount: 500, ended_at: on('02-04') });
    await story.advance(on('02-06'));
    expect(await story.amounts()).toEqual([[1_000], [10], [-50]]);
    expect(await redemption()).toMatchObject({
      applied_amount: 450,
      ended_at: on('02-05'),
    });
    await story.verify();
  });
});
