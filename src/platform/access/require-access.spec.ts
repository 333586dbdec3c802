import type { GrantedScope } from '../../core/access';
import { principalWith } from './principal';
import { requireHeldScopes } from './require-access';

describe('scopes that a caller hands out or takes over', () => {
  const held = principalWith('key', 'key_1', ['usage:write', 'usage:read', 'keys:write']);
  const owner = principalWith('admin', 'admin_1', ['*']);

  it.each([
    [held, [], null],
    [held, ['usage:read', 'usage:write'], null],
    [held, ['usage:read', 'refunds:write'], 'refunds:write'],
    [held, ['*'], '*'],
    [owner, ['*', 'refunds:write'], null],
    [owner, ['later:read' as GrantedScope], null],
  ] as const)('%#: are held by it', (caller, scopes, missing) => {
    const check = () => {
      requireHeldScopes(scopes, caller);
    };
    if (missing === null) expect(check).not.toThrow();
    else expect(check).toThrow(missing);
  });
});
