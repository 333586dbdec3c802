/**
 * Runs a TypeScript file in a Node process of its own, for tests that need several processes or have to kill one:
 *
 *     node test/support/run-ts.cjs <file.ts> [arguments]
 *
 * Compiled on `require` by swc with the settings Jest uses, so that nothing has to be built first. Packages are not touched.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { resolve, sep } = require('node:path');
const { transformSync } = require('@swc/core');

const packages = `${sep}node_modules${sep}`;

function compile(module, filename) {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    configFile: false,
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2023',
      keepClassNames: true,
    },
  });
  module._compile(code, filename);
}

const compileNatively = Module._extensions['.ts'];
Module._extensions['.ts'] = (module, filename) => {
  if (filename.includes(packages) && compileNatively) compileNatively(module, filename);
  else compile(module, filename);
};

process.setSourceMapsEnabled(true);

if (require.main === module) {
  const [, , file, ...rest] = process.argv;
  if (!file) throw new Error('Usage: node test/support/run-ts.cjs <file.ts> [arguments]');
  const entry = resolve(file);
  process.argv.splice(1, process.argv.length, entry, ...rest);
  require(entry);
}
