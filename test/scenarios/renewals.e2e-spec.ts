import { startTestApp, Story, type TestApp } from '../support/story';

describe('renewals', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('are made for a year of a monthly subscription in one advance', async () => {
    const story = await Story.begin(engine, '2026-01-15T10:00:00.000Z');
    const subscription = await story.subscribe(await story.plan(2_000));
    expect(subscription).toMatchObject({
      status: 'active',
      current_period_start: '2026-01-15T10:00:00.000Z',
      current_period_end: '2026-02-15T10:00:00.000Z',
    });
    await story.advance('2027-01-15T09:59:59.999Z');
    expect(await story.amounts()).toEqual(Array.from({ length: 12 }, () => [2_000]));
    await story.advance('2027-01-15T10:00:00.000Z');
    expect(await story.amounts()).toHaveLength(13);
    await story.verify();
  });

  it('with an anchor on the 31st return to the 31st', async () => {
    const story = await Story.begin(engine, '2028-01-31T00:00:00.000Z');
    await story.subscribe(await story.plan(1_000));
    await story.advance('2028-06-30T00:00:00.000Z');
    expect(await story.starts()).toEqual([
      '2028-01-31T00:00:00.000Z',
      '2028-02-29T00:00:00.000Z',
      '2028-03-31T00:00:00.000Z',
      '2028-04-30T00:00:00.000Z',
      '2028-05-31T00:00:00.000Z',
      '2028-06-30T00:00:00.000Z',
    ]);
    await story.verify();
  });
});
