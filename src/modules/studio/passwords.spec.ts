import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Passwords } from './passwords';

const HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1leGFtcGxlMQ$R8pB2ZXruHAl61vV5cDeGAOywi9y2ggJpckbuEcK6kY';
const PASSWORD = 'correct horse battery staple';

describe('passwords', () => {
  it.each([
    ['argon2id with 1 GiB', HASH.replace('m=19456', 'm=1048576')],
    ['bcrypt of cost 31', '$2b$31$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW'],
    ['scrypt with 1 GiB', `$scrypt$ln=20,r=8,p=1$c29tZXNhbHQ$${'A'.repeat(43)}`],
    ['PBKDF2 with a billion rounds', `$pbkdf2-sha256$1000000000$c29tZXNhbHQ$${'A'.repeat(43)}`],
  ])('are refused in less than 5 ms for a hash of %s', async (_, hash) => {
    const passwords = new Passwords();
    await passwords.verify(PASSWORD, hash);
    const times: number[] = [];
    for (let time = 0; time < 20; time += 1) {
      const startedAt = performance.now();
      expect(await passwords.verify(PASSWORD, hash)).toBe(false);
      times.push(performance.now() - startedAt);
    }
    expect(Math.min(...times)).toBeLessThan(5);
  });

  it.each([
    ['ln=15,r=1,p=1', true],
    ['ln=16,r=1,p=1', false],
    ['ln=1,r=1,p=8192', true],
    ['ln=1,r=1,p=8193', false],
    ['ln=4,r=1,p=100000', false],
    ['ln=1,r=8192,p=1', true],
  ])('can be checked against scrypt with %s: %s', async (parameters, expected) => {
    const passwords = new Passwords();
    const hash = `$scrypt$${parameters}$c29tZXNhbHQ$${'A'.repeat(43)}`;
    expect(passwords.canCheck(hash)).toBe(expected);
    expect(await passwords.verify(PASSWORD, hash)).toBe(false);
  });

  it('are checked a few at once, and refused when too many wait', async () => {
    const passwords = new Passwords();
    const checks = await Promise.allSettled(
      Array.from({ length: 40 }, () => passwords.verify(PASSWORD, HASH)),
    );
    const refused = checks.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(40 - 2 - 32);
    expect(String((refused[0] as PromiseRejectedResult).reason)).toContain('too_many_sign_ins');
  });

  it('are checked beside the event loop', async () => {
    const passwords = new Passwords();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const checks = Array.from({ length: 6 }, () => passwords.verify(PASSWORD, HASH));
    expect(await Promise.all(checks)).toEqual(checks.map(() => true));
    delay.disable();
    // The event loop ran while passwords were checked. A blocked loop would be measured only at the end.
    expect(delay.count).toBeGreaterThan(3);
  });
});
