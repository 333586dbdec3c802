import { ADMIN_ROLES, scopesOfRole } from './roles';
import { ALL_SCOPES } from './scopes';

const withoutReads = (role: (typeof ADMIN_ROLES)[number]) =>
  scopesOfRole(role).filter((scope) => !scope.endsWith(':read'));

describe('the scopes of a role', () => {
  it('are all scopes for owners, those of later versions included', () => {
    expect(scopesOfRole('owner')).toEqual(['*']);
  });

  it('let admins do all but manage admins and API keys', () => {
    const missing = ALL_SCOPES.filter((scope) => !scopesOfRole('admin').includes(scope));
    expect(missing).toEqual(['keys:write', 'studio:write']);
  });

  it('let support change customers, subscriptions and refunds only', () => {
    expect(withoutReads('support')).toEqual([
      'sessions:write',
      'customers:write',
      'refunds:write',
      'subscriptions:write',
    ]);
  });

  it('let viewers change nothing but end their sessions', () => {
    expect(withoutReads('viewer')).toEqual(['sessions:write']);
  });

  it.each(['support', 'viewer'] as const)('do not show %s who has access', (role) => {
    const hidden = ALL_SCOPES.filter(
      (scope) => scope.endsWith(':read') && !scopesOfRole(role).includes(scope),
    );
    expect(hidden).toEqual(['audit:read', 'keys:read', 'metrics:read', 'studio:read']);
  });

  it('have no scope twice', () => {
    for (const role of ADMIN_ROLES) {
      expect(new Set(scopesOfRole(role)).size).toBe(scopesOfRole(role).length);
    }
  });
});
