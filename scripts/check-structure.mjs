/**
 * Checks the structure of `src` and of `studio/src`, without tests: `npm run structure`. Limits the lines of a file and
 * the dependencies of a class. Two types in the same one of these folders may not have the same name. First checks on
 * example source text that each check can fail.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..');

/** Lines of a file, blank lines and comments included. */
const MAX_LINES = 350;
/** Parameters of a constructor. */
const MAX_DEPENDENCIES = 8;

const isType = (node) =>
  ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);

/**
 * Returns the number of lines of each file, the number of dependencies of each class, and the files that declare each
 * type name. `texts` are pairs of a path and its source.
 */
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

/** Returns the faults in source texts. `texts` are pairs of a path and its source. */
function faultsOf(texts) {
  const { lines, dependencies, filesOfTypes } = measure(texts);
  return [
    ...[...lines]
      .filter(([, count]) => count > MAX_LINES)
      .map(([path, count]) => `${path} has ${count} lines; the limit is ${MAX_LINES}`),
    ...[...dependencies]
      .filter(([, count]) => count > MAX_DEPENDENCIES)
      .map(
        ([name, count]) => `${name} has ${count} dependencies; the limit is ${MAX_DEPENDENCIES}`,
      ),
    ...[...filesOfTypes]
      .filter(([, files]) => files.length > 1)
      .map(([name, files]) => `the type ${name} is declared in ${files.join(' and ')}: rename one`),
  ];
}

const parameters = Array.from({ length: MAX_DEPENDENCIES + 1 }, (_, index) => `p${index}: A`);

/** Source texts that must fail, each because of exactly one fault. */
const CONTROLS = [
  [['src/a.ts', '\n'.repeat(MAX_LINES + 1)]],
  [['src/a.ts', `class C { constructor(${parameters.join(', ')}) {} }`]],
  [
    ['src/a.ts', 'export interface Price {}'],
    ['src/b.ts', 'type Price = string;'],
  ],
];

const blind = CONTROLS.filter((texts) => faultsOf(texts).length !== 1);
for (const texts of blind) {
  console.error(`control: not one fault in ${JSON.stringify(texts).slice(0, 200)}`);
}

function textsOf(folder) {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', folder],
    { cwd: ROOT, encoding: 'utf8' },
  );
  return listed
    .split('\n')
    .filter((path) => /\.tsx?$/.test(path) && !/\.spec\.ts$/.test(path))
    .filter((path) => existsSync(resolve(ROOT, path)))
    .map((path) => [path, readFileSync(resolve(ROOT, path), 'utf8')]);
}

const trees = [textsOf('src'), textsOf('studio/src')];
const faults = trees.flatMap(faultsOf);
for (const fault of faults) console.error(fault);
if (faults.length > 0 || blind.length > 0) process.exit(1);
console.log(`structure: ${trees.flat().length} files, ${CONTROLS.length} controls`);
