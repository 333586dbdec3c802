import type { Response } from 'supertest';
import { TOTP } from 'otpauth';
import type { AdminRole } from '../../src/core/access';
import { bearing, BOOTSTRAP_KEY } from './keys';
import type { TestApp } from './test-app';

export const PASSWORD = 'correct horse battery staple';
/** Hash of {@link PASSWORD}, made with the lowest cost that OWASP recommends. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1leGFtcGxlMQ$R8pB2ZXruHAl61vV5cDeGAOywi9y2ggJpckbuEcK6kY';

/** Headers of a request from a page of a signed-in admin. */
export type PageHeaders = Readonly<Record<'Cookie' | 'Sec-Fetch-Site' | 'X-CSRF-Token', string>>;

let created = 0;

/** Creates an admin with {@link PASSWORD}. */
export async function createAdmin(
  engine: TestApp,
  role: AdminRole,
  email = `${role}${(created += 1)}@example.com`,
): Promise<{ readonly id: string; readonly email: string }> {
  const { body } = await engine.uncheckedHttp
    .post('/v1/studio')
    .set(bearing(BOOTSTRAP_KEY))
    .send({ email, name: role, role, passwordHash: PASSWORD_HASH })
    .expect(201);
  return { id: (body as { readonly id: string }).id, email };
}

/** Returns the headers that a page sends after a sign-in. `answer` is the response to the sign-in. */
export function pageOf(answer: Response): PageHeaders {
  const cookies = (answer.headers['set-cookie'] ?? []) as unknown as readonly string[];
  const cookie = cookies.find((text) => /^(__Secure-)?billing_session=/.test(text)) ?? '';
  return {
    Cookie: cookie.split(';', 1)[0] ?? '',
    'Sec-Fetch-Site': 'same-origin',
    'X-CSRF-Token': (answer.body as { readonly csrf_token?: string }).csrf_token ?? '',
  };
}

/** Returns the code that an authenticator with this secret shows at this instant. */
export function codeAt(secret: string, at: Date): string {
  return new TOTP({ secret }).generate({ timestamp: at.getTime() });
}
