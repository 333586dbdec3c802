/**
 * Checks the import rules. First checks that each rule of .dependency-cruiser.cjs reports an example that breaks it,
 * then that the code of this project breaks no rule.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { CONTROLS } from './imports/controls.mjs';

const root = resolve(import.meta.dirname, '..');
const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const tsConfig = extractTsConfig(join(root, 'tsconfig.json'));

async function violations(baseDir, places) {
  const { output } = await cruise(
    places,
    { ...options, baseDir, validate: true, ruleSet: { forbidden } },
    null,
    { tsConfig },
  );
  return output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

async function violatedBy(tree) {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'imports-'));
  try {
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    cpSync(join(root, 'package.json'), join(directory, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'), 'junction');
    const places = [...new Set(Object.keys(tree).map((path) => path.split('/')[0]))];
    return [...new Set((await violations(directory, places)).map(({ rule }) => rule))];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function faultsOfControls() {
  const faults = [];
  const controlled = new Set(CONTROLS.map(({ rule }) => rule));
  const known = new Set(forbidden.map(({ name }) => name));
  for (const name of known) if (!controlled.has(name)) faults.push(`${name} has no control`);
  for (const name of controlled) if (!known.has(name)) faults.push(`${name} is not a rule`);
  for (const { rule, tree } of CONTROLS) {
    const violated = await violatedBy(tree);
    // Ignores `no-orphans`, because a control is often a single file. Any other violation would make the control ambiguous.
    const others = violated.filter((name) => name !== rule && name !== 'no-orphans');
    if (!violated.includes(rule) || others.length > 0) {
      const paths = Object.keys(tree).join(', ');
      faults.push(`${rule}: its control (${paths}) breaks ${violated.join(', ') || 'nothing'}`);
    }
  }
  return faults;
}

const faults = await faultsOfControls();
const PLACES = [
  'src',
  'packages',
  'migrations',
  'test',
  'bench',
  'scripts',
  'studio/src',
  'ormconfig.ts',
];
const found = await violations(
  root,
  PLACES.filter((place) => existsSync(join(root, place))),
);
for (const fault of faults) console.error(`control: ${fault}`);
for (const { rule, from, to } of found) {
  const comment = forbidden.find(({ name }) => name === rule)?.comment ?? '';
  console.error(`${rule}: ${from} -> ${to}\n    ${comment}`);
}
if (faults.length > 0 || found.length > 0) process.exit(1);
console.log(
  `import rules: ${forbidden.length} rules, ${CONTROLS.length} controls that break them, no violation`,
);
