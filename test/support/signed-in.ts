import type { AdminRole } from '../../src/core/access';
import { createAdmin, type PageHeaders, pageOf, PASSWORD } from './admins';
import type { TestApp } from './test-app';

/** Creates an admin with this role and signs the admin in. Returns the headers of requests from a page of the admin. */
export async function signedIn(engine: TestApp, role: AdminRole): Promise<PageHeaders> {
  const { email } = await createAdmin(engine, role, `${role}@example.com`);
  const answer = await engine.uncheckedHttp
    .post('/v1/session')
    .send({ email, password: PASSWORD })
    .expect(201);
  return pageOf(answer);
}
