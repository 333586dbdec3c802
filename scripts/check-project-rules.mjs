/**
 * Checks that the rules of the linter work, with the configuration of the repository. Each rule of
 * scripts/lint/project-rules.mjs, and each published rule in `RELIED_ON`, must refuse its example.
 */
import { resolve } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { PROJECT_RULES, RELIED_ON } from './lint/project-rules.mjs';

// The code of a control is in no TypeScript project, so rules that need types are disabled.
const eslint = new ESLint({
  cwd: resolve(import.meta.dirname, '..'),
  overrideConfig: [
    {
      ...tseslint.configs.disableTypeChecked,
      languageOptions: { parserOptions: { projectService: false } },
    },
  ],
});

async function refusalsOf(code, path) {
  const [result] = await eslint.lintText(code, { filePath: path });
  const broken = result.messages.find(({ fatal }) => fatal === true);
  if (broken !== undefined) throw new Error(`${path}: ${broken.message}\n${code}`);
  return result.messages.map(({ ruleId }) => ruleId);
}

const faults = [];
let controls = 0;

async function expectRefused(rule, code, path) {
  controls += 1;
  if (!(await refusalsOf(code, path)).includes(rule)) {
    faults.push(`${rule} accepts, in ${path}: ${code.slice(0, 100)}`);
  }
}

async function expectAccepted(rule, code, path) {
  controls += 1;
  if ((await refusalsOf(code, path)).includes(rule))
    faults.push(`${rule} refuses, in ${path}: ${code}`);
}

for (const [name, { control }] of Object.entries(PROJECT_RULES)) {
  const rule = `project/${name}`;
  if (control.refused.length === 0) faults.push(`${rule} has no control`);
  for (const code of control.refused) await expectRefused(rule, code, control.path);
  for (const code of control.accepted ?? []) await expectAccepted(rule, code, control.path);
}
for (const [rule, code] of Object.entries(RELIED_ON)) {
  await expectRefused(rule, code, 'src/modules/coupons/coupons.service.ts');
}

if (faults.length > 0) {
  for (const fault of faults) console.error(fault);
  process.exit(1);
}
console.log(`Project bans: ${Object.keys(PROJECT_RULES).length} bans, ${controls} controls`);
