/**
 * Checks the limits of scripts/lint/structure.mjs over `src`, tests excluded: `npm run structure`. Proves first, on source
 * text of its own, that each limit can be exceeded.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import {
  LARGE_CONSTRUCTORS,
  LONG_FILES,
  MOST_DEPENDENCIES,
  MOST_LINES,
  SHARED_NAMES,
} from './lint/structure.mjs';

const ROOT = resolve(import.meta.dirname, '..');

const isType = (node) =>
  ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);

/** Reads lines by file, dependencies by class and files by type name from source texts by path. */
function measure(texts) {
  const lines = new Map();
  const dependencies = new Map();
  const filesOfTypes = new Map();
  for (const [path, text] of texts) {
    lines.set(path, text.split('\n').length - 1);
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    for (const node of source.statements.filter(isType)) {
      const name = node.name?.text ?? '';
      filesOfTypes.set(name, [...(filesOfTypes.get(name) ?? []), path]);
      const constructor = (node.members ?? []).find((member) =>
        ts.isConstructorDeclaration(member),
      );
      if (constructor !== undefined) dependencies.set(name, constructor.parameters.length);
    }
  }
  return { lines, dependencies, filesOfTypes };
}

/** Faults of measured values against a limit and the values known to exceed it. */
function faultsOfLimit(values, limit, known, { unit, list }) {
  const exceeding = [...values].filter(([, value]) => value > limit);
  const worse = exceeding
    .filter(([name, value]) => value > (known[name] ?? limit))
    .map(([name, value]) => `${name} has ${value} ${unit}; the limit is ${known[name] ?? limit}`);
  const mended = Object.keys(known)
    .filter((name) => !exceeding.some(([other]) => other === name))
    .map((name) => `${name} keeps the limit of ${limit} ${unit} now: remove it from ${list}`);
  return [...worse, ...mended];
}

function faultsOfNames(filesOfTypes, known) {
  const shared = [...filesOfTypes].filter(([, files]) => files.length > 1);
  const added = shared
    .filter(([name]) => !known.includes(name))
    .map(([name, files]) => `the type ${name} is declared in ${files.join(' and ')}: rename one`);
  const mended = known
    .filter((name) => !shared.some(([other]) => other === name))
    .map((name) => `only one type is named ${name} now: remove it from SHARED_NAMES`);
  return [...added, ...mended];
}

function faultsOf(texts, { longFiles, largeConstructors, sharedNames }) {
  const { lines, dependencies, filesOfTypes } = measure(texts);
  return [
    ...faultsOfLimit(lines, MOST_LINES, longFiles, { unit: 'lines', list: 'LONG_FILES' }),
    ...faultsOfLimit(dependencies, MOST_DEPENDENCIES, largeConstructors, {
      unit: 'dependencies',
      list: 'LARGE_CONSTRUCTORS',
    }),
    ...faultsOfNames(filesOfTypes, sharedNames),
  ];
}

const parameters = (count) =>
  Array.from({ length: count }, (_, index) => `p${index}: A`).join(', ');

/** Source texts and lists of exceptions that must fail, each with exactly one fault. */
const NONE = { longFiles: {}, largeConstructors: {}, sharedNames: [] };
const CONTROLS = [
  { texts: [['src/a.ts', '\n'.repeat(MOST_LINES + 1)]], known: NONE },
  {
    texts: [['src/a.ts', '\n'.repeat(MOST_LINES + 2)]],
    known: { ...NONE, longFiles: { 'src/a.ts': MOST_LINES + 1 } },
  },
  {
    texts: [['src/a.ts', `class C { constructor(${parameters(MOST_DEPENDENCIES + 1)}) {} }`]],
    known: NONE,
  },
  {
    texts: [
      ['src/a.ts', 'export interface Price {}'],
      ['src/b.ts', 'type Price = string;'],
    ],
    known: NONE,
  },
  { texts: [], known: { ...NONE, longFiles: { 'src/a.ts': 400 } } },
  { texts: [], known: { ...NONE, largeConstructors: { C: 9 } } },
  { texts: [], known: { ...NONE, sharedNames: ['Price'] } },
];

const blind = CONTROLS.filter(({ texts, known }) => faultsOf(texts, known).length !== 1);
for (const { texts, known } of blind)
  console.error(`control: not one fault in ${JSON.stringify({ texts, known }).slice(0, 200)}`);

const paths = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'src'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.ts$/.test(path) && !/\.spec\.ts$/.test(path))
  .filter((path) => existsSync(resolve(ROOT, path)));
const texts = paths.map((path) => [path, readFileSync(resolve(ROOT, path), 'utf8')]);
const faults = faultsOf(texts, {
  longFiles: LONG_FILES,
  largeConstructors: LARGE_CONSTRUCTORS,
  sharedNames: SHARED_NAMES,
});
for (const fault of faults) console.error(fault);
if (faults.length > 0 || blind.length > 0) process.exit(1);
console.log(
  `structure: ${texts.length} files, ${CONTROLS.length} controls; ${Object.keys(LONG_FILES).length} long files, ` +
    `${Object.keys(LARGE_CONSTRUCTORS).length} large constructors and ${SHARED_NAMES.length} shared names to go`,
);
