import { principalWith } from '../../platform/access';
import { hiddenResources } from './event-access';

describe('events of resources that say who has access', () => {
  it.each([
    [['*'], []],
    [['events:read', 'keys:read', 'studio:read'], []],
    [['events:read', 'studio:read'], ['api_key']],
    [
      ['events:read', 'keys:read'],
      ['second_factor', 'session', 'studio_admin', 'studio_settings'],
    ],
  ] as const)('are hidden from callers with %j: %j', (scopes, hidden) => {
    expect(hiddenResources(principalWith('key', 'key_1', scopes).scopes)).toEqual(hidden);
  });
});
