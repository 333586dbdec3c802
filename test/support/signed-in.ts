import type { AdminRole } from '../../src/core/access';
import { bearing, BOOTSTRAP_KEY } from './keys';
import type { TestApp } from './test-app';

const PASSWORD = 'correct horse battery staple';
/** Hash of the password, at the floor of OWASP. */
const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1leGFtcGxlMQ$R8pB2ZXruHAl61vV5cDeGAOywi9y2ggJpckbuEcK6kY';

/** Creates an admin with this role, signs it in, and returns the headers of a request of its page. */
export async function signedIn(
  engine: TestApp,
  role: AdminRole,
): Promise<Readonly<Record<'Cookie' | 'Sec-Fetch-Site' | 'X-CSRF-Token', string>>> {
  const email = `${role}@example.com`;
  await engine.uncheckedHttp
    .post('/v1/studio')
    .set(bearing(BOOTSTRAP_KEY))
    .send({ email, name: role, role, passwordHash: PASSWORD_HASH })
    .expect(201);
  const answer = await engine.uncheckedHttp
    .post('/v1/session')
    .send({ email, password: PASSWORD })
    .expect(201);
  const [cookie = ''] = answer.headers['set-cookie'] as unknown as readonly string[];
  return {
    Cookie: cookie.split(';', 1)[0] ?? '',
    'Sec-Fetch-Site': 'same-origin',
    'X-CSRF-Token': (answer.body as { readonly csrf_token: string }).csrf_token,
  };
}
