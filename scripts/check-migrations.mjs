/**
 * Refuses migrations that would interrupt a running service: statements that hold a lock for long on a large table, and
 * changes that break the previous release. Records the SQL of each migration, and checks it with Squawk
 * (https://squawkhq.com) and with rules of this project. First checks on example SQL that each rule works. Part of `npm run
 * lint`.
 *
 * A statement that must be an exception says so in its SQL, with the reason:
 *
 *     -- The previous release no longer reads the column.
 *     -- squawk-ignore ban-drop-column
 *     ALTER TABLE …
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const MIGRATIONS = join(ROOT, 'migrations');

/** The newest migration that is older than these rules. Neither it nor earlier migrations are checked. */
const LAST_UNCHECKED = '1795410900001-CreateProviderEvents';

/** Rules of Squawk about locks and about the previous release. Its other rules are about style. */
const RULES = new Set([
  'adding-field-with-default',
  'adding-foreign-key-constraint',
  'adding-not-nullable-field',
  'adding-required-field',
  'adding-serial-primary-key-field',
  'ban-concurrent-index-creation-in-transaction',
  'ban-drop-column',
  'ban-drop-database',
  'ban-drop-table',
  'ban-truncate-cascade',
  'changing-column-type',
  'constraint-missing-not-valid',
  'disallowed-unique-constraint',
  'renaming-column',
  'renaming-table',
  'require-concurrent-index-creation',
  'require-concurrent-index-deletion',
  'syntax-error',
]);

/** Statements that may wait for locks without a limit, because they do not block reads and writes of other sessions. */
const WAITS_HARMLESSLY = [
  /^(CREATE (UNIQUE )?|DROP )INDEX CONCURRENTLY/i,
  /^REINDEX .*CONCURRENTLY/i,
  /^CREATE EXTENSION/i,
  /^ALTER TABLE (IF EXISTS )?(ONLY )?\S+\s+VALIDATE CONSTRAINT/i,
  /^ALTER INDEX (IF EXISTS )?\S+\s+RENAME/i,
  /^(SELECT|WITH)\b/i,
];

/** First statement of a migration without a transaction. It limits how long the migration waits for locks. */
const LIMITS_WAITS = /^SET lock_timeout = [1-9]/i;

/** Returns a recorded migration. `transaction` is true if it runs in one transaction. */
const recorded = (name, statements, transaction = true) => ({ name, statements, transaction });

const withoutComments = (sql) => sql.replace(/--.*$/gm, '').trim();

/** Returns the findings of Squawk in the statements of a migration, as `rule: message`. */
function squawkFaults({ name, statements, transaction }, directory) {
  const file = join(directory, `${name}.sql`);
  writeFileSync(file, statements.map((sql) => `${sql.trim().replace(/;$/, '')};\n`).join('\n'));
  const options = ['--pg-version', '15', '--reporter', 'json'];
  if (transaction) options.push('--assume-in-transaction');
  return JSON.parse(run(process.execPath, [squawk, ...options, file]))
    .filter(({ rule_name: rule }) => RULES.has(rule))
    .map(({ rule_name: rule, message, help }) => `${rule}: ${message} ${help ?? ''}`.trim());
}

/** Returns the output of a command. Squawk exits with 1 when it finds something. */
function run(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    if (error.status === 1 && error.stdout.startsWith('[')) return error.stdout;
    throw error;
  }
}

/** Returns violations of this project's own rules, as `rule: message`. */
function projectFaults({ statements, transaction }) {
  const texts = statements.map(withoutComments);
  const isUnlimited = !transaction && !LIMITS_WAITS.test(texts[0] ?? '');
  return [
    ...texts
      .filter(
        (sql) => /^(WITH\b.*)?\b(UPDATE|DELETE FROM)\b/is.test(sql) && !/\bLIMIT\b/i.test(sql),
      )
      .map((sql) => `whole-table-change: change rows in batches, each with a LIMIT: ${sql}`),
    ...texts
      .filter((sql) => isUnlimited && !WAITS_HARMLESSLY.some((form) => form.test(sql)))
      .map(
        (sql) =>
          'lock-without-limit: a migration without a transaction waits for locks without a time limit. Set ' +
          `lock_timeout first, so that it is run again, or move to a migration with a transaction: ${sql}`,
      ),
  ];
}

function faultsOf(migration, directory) {
  return [...squawkFaults(migration, directory), ...projectFaults(migration)];
}

/** Example SQL for each rule. The rule must refuse it. */
const REFUSED = {
  'adding-field-with-default': 'ALTER TABLE "a" ADD "b" timestamptz DEFAULT clock_timestamp()',
  'adding-foreign-key-constraint':
    'ALTER TABLE "a" ADD CONSTRAINT "c" FOREIGN KEY ("b") REFERENCES "d" ("id")',
  'adding-not-nullable-field': 'ALTER TABLE "a" ALTER "b" SET NOT NULL',
  'adding-required-field': 'ALTER TABLE "a" ADD "b" text NOT NULL',
  'ban-drop-column': 'ALTER TABLE "a" DROP "b"',
  'ban-drop-table': 'DROP TABLE "a"',
  'changing-column-type': 'ALTER TABLE "a" ALTER "b" TYPE bigint',
  'constraint-missing-not-valid': 'ALTER TABLE "a" ADD CONSTRAINT "c" CHECK ("b" > 0)',
  'disallowed-unique-constraint': 'ALTER TABLE "a" ADD CONSTRAINT "c" UNIQUE ("b")',
  'renaming-column': 'ALTER TABLE "a" RENAME "b" TO "c"',
  'renaming-table': 'ALTER TABLE "a" RENAME TO "b"',
  'require-concurrent-index-creation': 'CREATE INDEX "i" ON "a" ("b")',
  'require-concurrent-index-deletion': 'DROP INDEX "i"',
  'syntax-error': 'ALTER TABEL "a"',
  'whole-table-change': 'UPDATE "a" SET "b" = 1',
};
const CONTROLS = [
  ...Object.entries(REFUSED).map(([rule, sql]) => [rule, recorded('control', [sql])]),
  [
    'constraint-missing-not-valid',
    recorded('control', [
      'ALTER TABLE "a" ADD CONSTRAINT "c" CHECK ("b" > 0) NOT VALID',
      'ALTER TABLE "a" VALIDATE CONSTRAINT "c"',
    ]),
  ],
  [
    'ban-concurrent-index-creation-in-transaction',
    recorded('control', ['SELECT 1', 'CREATE INDEX CONCURRENTLY "i" ON "a" ("b")']),
  ],
  ['lock-without-limit', recorded('control', ['ALTER TABLE "a" ADD "b" text'], false)],
  ['whole-table-change', recorded('control', ['DELETE FROM "a" WHERE "b" = 1'])],
];
const ACCEPTED = [
  recorded('control', ['SET lock_timeout = 2000', 'ALTER TABLE "a" ADD "b" text'], false),
  recorded('control', [
    'CREATE TABLE "a" ("id" text PRIMARY KEY, "b" integer)',
    'CREATE INDEX "i" ON "a" ("b")',
    'ALTER TABLE "d" ADD "b" integer NOT NULL DEFAULT 1',
    'ALTER TABLE "d" ADD CONSTRAINT "c" CHECK ("b" > 0) NOT VALID',
    '-- No release reads it.\n-- squawk-ignore ban-drop-column\nALTER TABLE "d" DROP "e"',
  ]),
  recorded(
    'control',
    [
      'DROP INDEX CONCURRENTLY IF EXISTS "i"',
      'CREATE INDEX CONCURRENTLY "i" ON "a" ("b")',
      'ALTER TABLE "a" VALIDATE CONSTRAINT "c"',
      'WITH batch AS (SELECT "id" FROM "a" LIMIT 1000) UPDATE "a" SET "b" = 1 FROM batch WHERE batch."id" = "a"."id"',
    ],
    false,
  ),
];

/** Returns the statements that a migration sends. No database runs them: each query gets an empty result. */
async function record(file) {
  const [Migration] = Object.values(require(join(MIGRATIONS, file)));
  const migration = new Migration();
  const statements = [];
  await migration.up({
    query: (sql) => {
      statements.push(sql);
      return Promise.resolve([]);
    },
  });
  return recorded(basename(file, '.ts'), statements, migration.transaction !== false);
}

const require = createRequire(import.meta.url);
const squawk = require.resolve('squawk-cli/js/bin/squawk');
// Lets `require` load TypeScript files.
require(join(ROOT, 'test/support/run-ts.cjs'));

const directory = mkdtempSync(join(tmpdir(), 'check-migrations-'));
const faults = [];
try {
  for (const [rule, migration] of CONTROLS) {
    if (!faultsOf(migration, directory).some((fault) => fault.startsWith(`${rule}: `))) {
      faults.push(`control: ${rule} accepts ${migration.statements.join('; ')}`);
    }
  }
  for (const migration of ACCEPTED) {
    for (const fault of faultsOf(migration, directory)) faults.push(`control: refused by ${fault}`);
  }
  const files = readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith('.ts') && basename(file, '.ts') > LAST_UNCHECKED)
    .sort();
  for (const file of files) {
    const migration = await record(file);
    faults.push(...faultsOf(migration, directory).map((fault) => `${file}: ${fault}`));
  }
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`migrations: ${files.length} checked, ${CONTROLS.length} controls`);
} finally {
  rmSync(directory, { recursive: true });
}
