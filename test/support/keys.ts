import { newSecret } from '../../src/platform/access';
import type { TestApp } from './test-app';

/** Value of `BOOTSTRAP_API_KEY` in tests with `AUTH=required`: the secret of a key that has all scopes. */
export const BOOTSTRAP_KEY = newSecret('sk_test_');

/** Environment of an engine that requires credentials. */
export const WITH_KEYS = { AUTH: 'required', BOOTSTRAP_API_KEY: BOOTSTRAP_KEY } as const;

export interface CreatedKey {
  readonly id: string;
  readonly secret: string;
}

export async function createKey(
  engine: TestApp,
  ...scopes: readonly string[]
): Promise<CreatedKey> {
  const { body } = await engine.http
    .post('/v1/api-keys')
    .set('Authorization', `Bearer ${BOOTSTRAP_KEY}`)
    .send({ name: scopes.join(' ').slice(0, 200), scopes })
    .expect(201);
  return body as CreatedKey;
}

/** Returns the header of a request with this credential. */
export function bearing(secret: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${secret}` };
}
