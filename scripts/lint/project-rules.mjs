/**
 * Lint rules of this project that no published rule covers. Each has selectors over the syntax tree, the files to which
 * it applies, a message, and example code that it must refuse. `npm run lint` also runs each rule on its example, to
 * notice selectors that match nothing.
 */

const RULES_OF_MONEY = ['src/core/**/*.ts', 'src/modules/**/*.ts'];
const SPECS = ['**/*.spec.ts', '**/*.e2e-spec.ts'];
const TESTS = [...SPECS, 'test/**/*.ts'];

/** The only test file that may use timers: it waits for a condition, up to a time limit. */
const WAITS_FOR_A_CONDITION = 'test/support/until.ts';

const CORE_FOREIGNERS = String.raw`/^(node:|@nestjs\u002F|@nestjs$|typeorm)/`;

/**
 * @typedef {object} ProjectRule
 * @property {string[]} selectors
 * @property {string} message what to do instead, or why the code is refused
 * @property {string[]} files files that the rule applies to
 * @property {string[]} [ignores] files that the rule does not apply to
 * @property {{ path: string, refused: string[], accepted?: string[] }} control
 */

/** @type {Record<string, ProjectRule>} */
export const PROJECT_RULES = {
  'no-enum': {
    selectors: ['TSEnumDeclaration'],
    message: 'Write a union of strings; an enum is a second, nominal spelling of it.',
    files: ['**/*.ts'],
    control: { path: 'src/core/tax.ts', refused: ['export enum Kind { A }'] },
  },
  'no-forward-ref': {
    selectors: ["Identifier[name='forwardRef']"],
    message: 'Two providers that need each other: move what both need down, or record an event.',
    files: ['**/*.ts'],
    control: {
      path: 'src/modules/coupons/coupons.module.ts',
      refused: ["import { forwardRef } from '@nestjs/common';", 'nest.forwardRef(() => Other);'],
    },
  },
  'no-export-all': {
    selectors: ['ExportAllDeclaration'],
    message: 'An index names what it exports; `export *` exports every name that is added later.',
    files: ['**/*.ts'],
    control: {
      path: 'src/modules/coupons/index.ts',
      refused: ["export * from './coupon';", "export * as coupon from './coupon';"],
      accepted: ["export { coupon } from './coupon';"],
    },
  },
  'no-inject-repository': {
    selectors: ["Identifier[name='InjectRepository']"],
    message:
      'An injected repository escapes the open transaction; ask Database.repository(Entity).',
    files: ['src/**/*.ts'],
    control: {
      path: 'src/modules/coupons/coupons.repository.ts',
      refused: ['class A { constructor(@InjectRepository(Row) readonly rows: Rows) {} }'],
    },
  },
  'no-typeorm-above-repositories': {
    selectors: ["ImportDeclaration[source.value='typeorm']"],
    message: 'Queries and locks belong to the repository of the module.',
    files: ['src/**/*.service.ts', 'src/**/*.workflow.ts', 'src/**/*.controller.ts'],
    control: {
      path: 'src/modules/coupons/coupons.service.ts',
      refused: ["import { In } from 'typeorm';", "import type { Repository } from 'typeorm';"],
    },
  },
  'core-without-framework': {
    selectors: [
      `ImportDeclaration[source.value=${CORE_FOREIGNERS}]`,
      `ImportExpression[source.value=${CORE_FOREIGNERS}]`,
    ],
    message: 'Core is pure: no Nest, no TypeORM, no Node API.',
    files: ['src/core/**/*.ts'],
    ignores: SPECS,
    control: {
      path: 'src/core/tax/tax.ts',
      refused: [
        "import { Injectable } from '@nestjs/common';",
        "import { In } from 'typeorm';",
        "import { createHash } from 'node:crypto';",
        "export const load = () => import('node:fs');",
      ],
      accepted: ["import { Temporal } from 'temporal-polyfill';"],
    },
  },
  'no-ambient-clock': {
    selectors: [
      "NewExpression[callee.name='Date'][arguments.length=0]",
      "CallExpression[callee.name='Date']",
      "MemberExpression[object.name='Date'][property.name='now']",
      "MemberExpression[object.name='Temporal'][property.name='Now']",
    ],
    message:
      'Take the instant as an argument, or ask the injected Clock once at the start of the use case.',
    files: RULES_OF_MONEY,
    ignores: SPECS,
    control: {
      path: 'src/modules/coupons/coupons.service.ts',
      refused: ['new Date();', 'Date();', 'Date.now();', 'Temporal.Now.instant();'],
      accepted: ['new Date(value);'],
    },
  },
  'no-float-money': {
    selectors: [
      "MemberExpression[object.name='Math'][property.name=/^(random|round)$/]",
      'MemberExpression[property.name=/^(toFixed|parseFloat)$/]',
      "CallExpression[callee.name='parseFloat']",
    ],
    message: 'Amounts are bigint minor units or decimal strings, rounded once by core/money.',
    files: RULES_OF_MONEY,
    ignores: SPECS,
    control: {
      path: 'src/core/tax/tax.ts',
      refused: [
        'Math.round(x);',
        'Math.random();',
        'x.toFixed(2);',
        'parseFloat(x);',
        'Number.parseFloat(x);',
      ],
      accepted: ['Math.min(x, y);'],
    },
  },
  'no-parallel-queries': {
    selectors: [
      "MemberExpression[object.name='Promise'][property.name=/^(all|allSettled|any|race)$/]",
    ],
    message: 'A transaction is one connection: await its queries one after the other.',
    files: [
      'src/modules/**/*.service.ts',
      'src/modules/**/*.workflow.ts',
      'src/modules/**/*.repository.ts',
    ],
    control: {
      path: 'src/modules/coupons/coupons.service.ts',
      refused: ['await Promise.all([a(), b()]);', 'await Promise.allSettled(reads);'],
    },
  },
  'no-ambient-settings': {
    selectors: ["MemberExpression[object.name='process'][property.name='env']"],
    message:
      'The Configuration is the one reader of the environment: typed, and validated at boot.',
    files: ['src/**/*.ts', 'packages/**/*.ts', 'migrations/**/*.ts'],
    ignores: ['src/platform/config/**', ...SPECS],
    control: {
      path: 'src/platform/logging/logger.ts',
      refused: ["process.env['LOG_LEVEL'];", 'process.env.LOG_LEVEL;'],
    },
  },
  'no-muted-test': {
    selectors: [
      'MemberExpression[object.name=/^(describe|it|test)$/][property.name=/^(skip|only|todo|failing)$/]',
      'CallExpression[callee.name=/^(xit|xtest|xdescribe|fit|fdescribe)$/]',
      'MemberExpression[object.name=/^(xit|xtest|xdescribe|fit|fdescribe)$/]',
    ],
    message: 'Every test runs, every time: mend it or delete it.',
    files: TESTS,
    control: {
      path: 'src/core/tax/tax.spec.ts',
      refused: [
        "it.skip('adds', () => {});",
        "describe.only('sums', () => {});",
        "it.todo('subtracts');",
        "it.only.each([1])('%d', () => {});",
        "xit('adds', () => {});",
        "fdescribe('sums', () => {});",
      ],
    },
  },
  'no-sleep': {
    selectors: [
      "CallExpression[callee.name='setTimeout']",
      "CallExpression[callee.object.name=/^(globalThis|global|window|timers)$/][callee.property.name='setTimeout']",
      String.raw`ImportDeclaration[source.value=/^(node:)?timers(\u002Fpromises)?$/]`,
    ],
    message: `A test that waits a fixed time is slow or flaky, often both. Wait for what you expect, with ${WAITS_FOR_A_CONDITION}.`,
    files: TESTS,
    ignores: [WAITS_FOR_A_CONDITION],
    control: {
      path: 'test/e2e/coupons.e2e-spec.ts',
      refused: [
        'await new Promise((resolve) => setTimeout(resolve, 100));',
        "import { setTimeout as pause } from 'node:timers/promises';",
        'globalThis.setTimeout(done, 100);',
      ],
      accepted: ['jest.setTimeout(60_000);'],
    },
  },
};

/** The rules as an ESLint plugin, so that each can be switched per file and named in a report. */
const projectPlugin = {
  meta: { name: 'project' },
  rules: Object.fromEntries(
    Object.entries(PROJECT_RULES).map(([name, { selectors, message }]) => [
      name,
      {
        meta: { type: 'problem', schema: [], messages: { refused: message } },
        create: (context) =>
          Object.fromEntries(
            selectors.map((selector) => [
              selector,
              (node) => {
                context.report({ node, messageId: 'refused' });
              },
            ]),
          ),
      },
    ]),
  ),
};

/** One entry of ESLint's configuration for each rule. */
export const projectConfig = Object.entries(PROJECT_RULES).map(
  ([name, { files, ignores = [] }]) => ({
    name: `project/${name}`,
    files,
    ignores,
    plugins: { project: projectPlugin },
    rules: { [`project/${name}`]: 'error' },
  }),
);

/**
 * Published rules that the project relies on, each with code that it must refuse. If a change of the configuration
 * disables one of them, `npm run lint` fails.
 */
export const RELIED_ON = {
  '@typescript-eslint/no-explicit-any': 'export const value: any = 1;',
  '@typescript-eslint/no-non-null-assertion': 'export const value = maybe!.length;',
  '@typescript-eslint/ban-ts-comment': '// @ts-ignore\nexport const value = 1;',
  'max-lines': Array.from({ length: 351 }, (_, index) => `export const v${index} = ${index};`).join(
    '\n',
  ),
  'max-lines-per-function': `export function long() {\n${'  call();\n'.repeat(70)}}`,
};
