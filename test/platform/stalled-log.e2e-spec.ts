import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';
import { until } from '../support/until';

describe('a service whose log is not read', () => {
  let made: TestDatabase;
  let service: RunningService;

  beforeAll(async () => {
    made = await createTestDatabase();
  });
  beforeEach(async () => {
    service = await RunningService.start(made.url, { ROLE: 'api', LOG_LEVEL: 'info' });
  });
  afterEach(() => service.kill());
  afterAll(() => made.drop());

  /** Makes lines for far more than a pipe holds. Returns the statuses of the answers. */
  async function fillLog(): Promise<ReadonlySet<number>> {
    const statuses = new Set<number>();
    const path = `/v1/${'x'.repeat(300)}`;
    for (let round = 0; round < 40; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => service.get(path)));
      for (const { status } of answers) statuses.add(status);
    }
    return statuses;
  }

  it('answers, and writes the lines when they are read again', async () => {
    service.pauseLog();
    expect(await fillLog()).toEqual(new Set([404]));
    const requests = () => service.log().filter(({ msg }) => msg === 'request').length;
    expect(requests()).toBeLessThan(2_000);
    service.resumeLog();
    await until('the lines', () => requests() === 2_000);
    expect(service.log().filter(({ lost }) => lost !== undefined)).toEqual([]);
  });

  it('stops on a signal', async () => {
    service.pauseLog();
    await fillLog();
    expect(await service.stop()).toBe(0);
  });
});
