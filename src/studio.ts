import './supported-node';
import type { INestApplicationContext } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { parseArguments, runCommand, UsageError } from './command-line';
import { ADMIN_ROLES, type AdminRole } from './core/access';
import { SecondFactorsService } from './modules/sessions';
import { Passwords, StudioService } from './modules/studio';
import { actAsCommand, type Principal } from './platform/access';
import { printRow, prompt, readStandardInput } from './terminal';

const USAGE = `npm run studio -- create-admin [--email EMAIL] [--name NAME] [--role ROLE] [--password-stdin]
  Creates an admin. Asks on the terminal for what is not given. The first admin is an owner; further ones are admins
  unless --role says otherwise (${ADMIN_ROLES.join(', ')}).
npm run studio -- set-password [--email EMAIL] [--password-stdin]
  Sets a new password, which ends the sessions of the admin.
npm run studio -- remove-second-factor [--email EMAIL]
  Removes a lost second factor, which ends the sessions of the admin.
npm run studio -- list
  Lists the newest 100 admins.

--password-stdin reads the password from the first line of the standard input.`;

const COMMANDS = ['create-admin', 'set-password', 'remove-second-factor', 'list'] as const;
type StudioCommand = (typeof COMMANDS)[number];

const MAX_EMAIL_LENGTH = 254;
const MAX_NAME_LENGTH = 200;
const MIN_PASSWORD_LENGTH = 12;
const MAX_PASSWORD_LENGTH = 1_000;
const MAX_PAGE_SIZE = 100;

interface StudioOptions {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  readonly 'password-stdin'?: boolean | undefined;
}

interface StudioArguments {
  readonly options: StudioOptions;
  readonly command: StudioCommand;
}

function readArguments(): StudioArguments {
  const { values, positionals } = parseArguments(`\n\n${USAGE}`, {
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      'password-stdin': { type: 'boolean' },
    },
  });
  const command = COMMANDS.find((known) => known === positionals[0]);
  if (command === undefined || positionals.length > 1) {
    throw new UsageError(`Name one command.\n\n${USAGE}`);
  }
  return { options: values, command };
}

async function emailOf({ email }: StudioOptions): Promise<string> {
  const text = (email ?? (await prompt('Email: '))).trim();
  if (!isEmail(text) || text.length > MAX_EMAIL_LENGTH) {
    throw new UsageError(`${JSON.stringify(text)} is not an email address.`);
  }
  return text;
}

async function nameOf({ name }: StudioOptions, email: string): Promise<string> {
  const text = name ?? (process.stdin.isTTY ? await prompt(`Name (${email}): `) : '');
  if (text.length > MAX_NAME_LENGTH) {
    throw new UsageError(`The name must have at most ${MAX_NAME_LENGTH} characters.`);
  }
  return text.trim() === '' ? email.slice(0, MAX_NAME_LENGTH) : text.trim();
}

async function roleOf({ role }: StudioOptions, studio: StudioService): Promise<AdminRole> {
  if (role === undefined) return (await studio.hasActiveOwner()) ? 'admin' : 'owner';
  const known = ADMIN_ROLES.find((one) => one === role);
  if (known !== undefined) return known;
  throw new UsageError(
    `${JSON.stringify(role)} is not a role. The roles are: ${ADMIN_ROLES.join(', ')}.`,
  );
}

async function passwordOf(options: StudioOptions): Promise<string> {
  const isPiped = options['password-stdin'] === true;
  const password = isPiped ? await readStandardInput() : await prompt('Password: ', true);
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw new UsageError(
      `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`,
    );
  }
  if (!isPiped && (await prompt('Password again: ', true)) !== password) {
    throw new UsageError('The two passwords differ.');
  }
  return password;
}

async function createAdmin(
  app: INestApplicationContext,
  options: StudioOptions,
  caller: Principal,
): Promise<void> {
  const studio = app.get(StudioService, { strict: false });
  const role = await roleOf(options, studio);
  const email = await emailOf(options);
  const name = await nameOf(options, email);
  const passwordHash = await app.get(Passwords, { strict: false }).hash(await passwordOf(options));
  const { id } = await studio.create({ email, name, role, passwordHash }, caller);
  printRow(id, role, email, name);
}

async function setPassword(
  app: INestApplicationContext,
  options: StudioOptions,
  caller: Principal,
): Promise<void> {
  const studio = app.get(StudioService, { strict: false });
  const { id, email, isActive } = await studio.getByEmail(await emailOf(options));
  if (!isActive) throw new UsageError(`The admin ${email} is inactive.`);
  const passwordHash = await app.get(Passwords, { strict: false }).hash(await passwordOf(options));
  await studio.update(id, { passwordHash }, { expected: 'any', caller });
  printRow(id, email, 'has a new password');
}

async function removeSecondFactor(
  app: INestApplicationContext,
  options: StudioOptions,
  caller: Principal,
): Promise<void> {
  const studio = app.get(StudioService, { strict: false });
  const { id, email } = await studio.getByEmail(await emailOf(options));
  await app.get(SecondFactorsService, { strict: false }).remove(id, caller);
  printRow(id, email, 'has no second factor');
}

async function list(app: INestApplicationContext): Promise<void> {
  const studio = app.get(StudioService, { strict: false });
  const { items } = await studio.list({ limit: MAX_PAGE_SIZE, after: null });
  for (const { id, email, name, role, isActive } of items) {
    printRow(id, isActive ? role : 'inactive', email, name);
  }
}

async function run(
  app: INestApplicationContext,
  { options, command }: StudioArguments,
): Promise<void> {
  await actAsCommand(`studio ${command}`, async (caller) => {
    switch (command) {
      case 'create-admin':
        return createAdmin(app, options, caller);
      case 'set-password':
        return setPassword(app, options, caller);
      case 'remove-second-factor':
        return removeSecondFactor(app, options, caller);
      case 'list':
        return list(app);
    }
  });
}

runCommand({
  usage: USAGE,
  readArguments,
  isDated: ({ command }) => command !== 'list',
  run,
});
