/**
 * Checks names, comments, sentences and Markdown against scripts/lint/language.mjs: `npm run language`.
 * `npm run language -- src/modules/coupons` checks one folder.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import ts from 'typescript';
import { EXCEPTIONS, OPENINGS, WORDS } from './lint/language.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const CHECKED =
  /^(src|studio|packages|test|bench|scripts|docs)\/.*\.(tsx?|mjs|cjs|md)$|^[^/]+\.(md|ts|mjs)$/;
/** Files that are generated from the code or that others wrote. They are not checked. */
const LEFT_OUT = /^(docs\/(errors|events|routes)\.md|test\/vectors\/|LICENSE)/;

const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase());

const isExcepted = (path, found) =>
  EXCEPTIONS.some((exception) => exception.path.test(path) && exception.words.test(found));

function faultsInName(name) {
  return WORDS.filter(
    ({ names }) => names !== undefined && wordsOf(name).some((word) => names.test(word)),
  );
}

function faultsInText(text) {
  return WORDS.flatMap((rule) => {
    const found = rule.texts?.exec(text);
    return found === null || found === undefined
      ? []
      : [{ rule, found: found[0], at: found.index }];
  });
}

/** Returns the prose of a text: without code in backticks and without the targets of links. */
const proseOf = (text) =>
  text
    .replace(/`[^`]*`/g, (code) => ' '.repeat(code.length))
    .replace(/\]\([^)]*\)/g, (link) => ' '.repeat(link.length));

function checkTypescript(path, text, report) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const seen = new Set();
  const checkComments = (position) => {
    for (const range of ts.getLeadingCommentRanges(text, position) ?? []) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      const comment = text.slice(range.pos, range.end);
      const opening = /^\/\*\*[\s*]*(.*)/.exec(comment)?.[1] ?? '';
      if (OPENINGS.pattern.test(opening))
        report(lineAt(range.pos), opening.slice(0, 40), OPENINGS.instead);
      for (const { rule, found, at } of faultsInText(proseOf(comment))) {
        report(lineAt(range.pos + at), found, rule.instead);
      }
    }
  };
  const visit = (node) => {
    checkComments(node.getFullStart());
    if (node.name !== undefined && ts.isIdentifier(node.name)) {
      for (const rule of faultsInName(node.name.text))
        report(lineAt(node.name.getStart()), node.name.text, rule.instead);
    }
    const isText =
      ts.isStringLiteral(node) ||
      ts.isJsxText(node) ||
      ts.isNoSubstitutionTemplateLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node);
    if (isText && node.text.includes(' ')) {
      for (const { rule, found } of faultsInText(proseOf(node.text)))
        report(lineAt(node.getStart()), found, rule.instead);
    }
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
}

function checkMarkdown(text, report) {
  const prose = text.replace(/```[\s\S]*?```/g, (block) => block.replace(/[^\n]/g, ' '));
  for (const [index, line] of prose.split('\n').entries()) {
    for (const { rule, found } of faultsInText(proseOf(line)))
      report(index + 1, found, rule.instead);
  }
}

const faults = [];

for (const { refused, names, texts } of WORDS) {
  const isRefused = refused.includes(' ')
    ? texts?.test(refused)
    : wordsOf(refused).some((word) => names?.test(word));
  if (isRefused !== true)
    faults.push(`scripts/lint/language.mjs: a rule accepts its own example: ${refused}`);
}
if (!OPENINGS.pattern.test(OPENINGS.refused))
  faults.push('scripts/lint/language.mjs: the rule of openings accepts its example');

const only = process.argv.slice(2);
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => CHECKED.test(path) && !LEFT_OUT.test(path));
const isWanted = (path) => only.length === 0 || only.some((folder) => path.startsWith(folder));

for (const path of paths.filter(isWanted)) {
  let text;
  try {
    text = readFileSync(resolve(ROOT, path), 'utf8');
  } catch {
    continue; // Deleted and not committed yet.
  }
  const report = (line, found, instead) => {
    if (!isExcepted(path, found)) faults.push(`${path}:${line} "${found}": write ${instead}`);
  };
  for (const rule of faultsInName(basename(path).replace(/\.[^.]+$/, '')))
    report(1, basename(path), rule.instead);
  if (path.endsWith('.md')) checkMarkdown(text, report);
  else checkTypescript(path, text, report);
}

for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`language: ${faults.length} places (docs/glossary.md says what to write)`);
  process.exit(1);
}
console.log(`language: ${paths.filter(isWanted).length} files, ${WORDS.length + 1} rules`);
