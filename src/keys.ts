import './supported-node';
import type { INestApplicationContext } from '@nestjs/common';
import { parseArguments, runCommand, UsageError } from './command-line';
import { GRANTED_SCOPES, type GrantedScope } from './core/access';
import { ApiKeysService } from './modules/access';
import { actAsCommand, type Principal } from './platform/access';
import { isInstant } from './platform/http';
import { KeyRotation } from './platform/secrets';
import { print, printRow } from './terminal';

const USAGE = `npm run keys -- create --name NAME [--scopes SCOPE,SCOPE] [--expires-at INSTANT]
  Creates an API key and prints its secret. Without --scopes the key has all scopes.
npm run keys -- list
  Lists the newest 100 API keys.
npm run keys -- revoke ID
  Revokes an API key.
npm run keys -- rotate-encryption
  Encrypts all stored secrets again with the first of ENCRYPTION_KEYS, and retires the other keys. Processes go on running.`;

const COMMANDS = ['create', 'list', 'revoke', 'rotate-encryption'] as const;
type KeysCommand = (typeof COMMANDS)[number];

const MAX_PAGE_SIZE = 100;

async function create(keys: ApiKeysService, options: Options, caller: Principal): Promise<void> {
  const { name, scopes, 'expires-at': expiresAt } = options;
  if (name === undefined || name.trim() === '' || name.length > 200) {
    throw new UsageError(`--name must be text of 1 to 200 characters.\n${USAGE}`);
  }
  if (expiresAt !== undefined && !isInstant(expiresAt)) {
    throw new UsageError(
      '--expires-at must be an RFC 3339 timestamp such as 2040-01-01T00:00:00Z.',
    );
  }
  const created = await keys.create(
    {
      name,
      scopes: parseScopes(scopes ?? '*'),
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
      requestsPerMinute: null,
      usageRequestsPerMinute: null,
    },
    caller,
  );
  printRow(created.key.id, name, created.key.scopes.join(','));
  print('Store this secret now; it cannot be shown again:', created.secret);
}

function parseScopes(text: string): readonly GrantedScope[] {
  const names = new Set(text.split(',').map((part) => part.trim()));
  return [...names].map((name) => {
    const scope = GRANTED_SCOPES.find((known) => known === name);
    if (scope !== undefined) return scope;
    throw new UsageError(
      `${JSON.stringify(name)} is not a scope. The scopes are: ${GRANTED_SCOPES.join(', ')}.`,
    );
  });
}

async function list(keys: ApiKeysService): Promise<void> {
  const { items } = await keys.list({ limit: MAX_PAGE_SIZE, after: null });
  for (const { id, name, scopes, lastFour, revokedAt, expiresAt } of items) {
    const state =
      revokedAt === null
        ? `expires ${expiresAt?.toISOString() ?? 'never'}`
        : `revoked ${revokedAt.toISOString()}`;
    printRow(id, `…${lastFour}`, state, scopes.join(','), name);
  }
}

async function rotateEncryption(rotation: KeyRotation): Promise<void> {
  const { keyId, retiredKeyIds } = await rotation.run(({ table, count }) => {
    print(`${table}: ${count} encrypted again`);
  });
  const retired = retiredKeyIds.length === 0 ? 'no other key' : retiredKeyIds.join(', ');
  print(`All stored secrets are encrypted with ${keyId}. Retired: ${retired}.`);
}

interface Options {
  readonly name?: string | undefined;
  readonly scopes?: string | undefined;
  readonly 'expires-at'?: string | undefined;
}

interface KeysArguments {
  readonly options: Options;
  readonly command: KeysCommand;
  /** Id of the key to revoke. */
  readonly id: string;
}

function readArguments(): KeysArguments {
  const { values, positionals } = parseArguments(`\n${USAGE}`, {
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      scopes: { type: 'string' },
      'expires-at': { type: 'string' },
    },
  });
  const [word, id = ''] = positionals;
  const command = COMMANDS.find((known) => known === word);
  if (command === undefined || (command === 'revoke' && id === '')) throw new UsageError(USAGE);
  return { options: values, command, id };
}

async function run(
  app: INestApplicationContext,
  { options, command, id }: KeysArguments,
): Promise<void> {
  const keys = app.get(ApiKeysService, { strict: false });
  await actAsCommand(`keys ${command}`, async (caller) => {
    switch (command) {
      case 'create':
        return create(keys, options, caller);
      case 'list':
        return list(keys);
      case 'revoke':
        return keys.revoke(id, 'any');
      case 'rotate-encryption':
        return rotateEncryption(app.get(KeyRotation));
    }
  });
}

runCommand({
  usage: USAGE,
  readArguments,
  isDated: ({ command }) => command !== 'list',
  run,
});
