import { defineConfig, globalIgnores } from 'eslint/config';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { projectConfig } from './scripts/lint/project-rules.mjs';

const TYPESCRIPT = ['**/*.ts', '**/*.tsx'];
const TESTS = ['**/*.spec.ts', 'test/**/*.ts'];

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', '.data/', 'studio/generated/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: TYPESCRIPT,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-param-reassign': 'error',
      'prefer-const': 'error',
      'max-lines': ['error', { max: 350, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // `_` says that a parameter is there for its place alone; the compiler knows it as well.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // A module of Nest is a class that holds nothing but its decorator.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Numbers in a message are written as they are; anything else still has to be turned into text on purpose.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // The class of a DTO or of options describes a shape; the mappers write that shape as a literal.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Entities and DTOs are plain data with a class for their decorators; they have no prototype worth keeping.
      '@typescript-eslint/no-misused-spread': 'off',
      // `() => done()` is how a callback is written; its result goes nowhere either way.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // `process.env['NAME']` and index signatures: the compiler already demands the brackets.
      '@typescript-eslint/dot-notation': 'off',
      // Reads as well as an interface where the members are given in one line; both stand for the same thing.
      '@typescript-eslint/consistent-type-definitions': 'off',
    },
  },
  {
    // A specification is one long function that is read top down, and its tables are long too.
    files: TESTS,
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 600, skipBlankLines: true, skipComments: true }],
      // The body of an answer and Jest's matchers are `any`; what a test compares them with is not.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // A fake is asynchronous because what it stands for is.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // A migration is its SQL, in the order it runs.
    files: ['migrations/**/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // What generates, checks and measures talks to a terminal.
    files: ['scripts/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['studio/src/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: {
      // It warns of what a compiler leaves out that is not used here.
      'react-hooks/incompatible-library': 'off',
      // The markup of a page is one expression, as long as the page.
      'max-lines-per-function': ['error', { max: 120, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    rules: {
      eqeqeq: 'error',
      'no-param-reassign': 'error',
      'no-unused-vars': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  ...projectConfig,
  prettier,
);
