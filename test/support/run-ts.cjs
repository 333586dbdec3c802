/**
 * Runs a TypeScript file in a Node process of its own, for tests that need several processes or have to kill one:
 *
 *     node test/support/run-ts.cjs <file.ts> [arguments]
 *
 * Compiled on `require` by swc with the settings Jest uses, so that nothing has to be built first. Packages are not touched.
 * A test run starts many processes of some 900 files each, so compiled files are kept in `node_modules/.cache`.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join, resolve, sep } = require('node:path');

const packages = `${sep}node_modules${sep}`;
const cache = resolve(__dirname, '../../node_modules/.cache/run-ts');
// Other settings, or another version of swc, compile other code.
const compiler = createHash('sha256')
  .update(readFileSync(__filename))
  .update(readFileSync(require.resolve('@swc/core/package.json')))
  .digest('hex');

/** Returns the code of a TypeScript file, compiled before or now. */
function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const digest = createHash('sha256').update(`${compiler}\0${filename}\0${source}`).digest('hex');
  const file = join(cache, `${digest}.js`);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const code = transform(source, filename);
    keep(file, code);
    return code;
  }
}

/** Writes the whole file or none: other processes read it meanwhile. Without the right to write, nothing is kept. */
function keep(file, code) {
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(unfinished, code);
    renameSync(unfinished, file);
  } catch {
    /* compiled again by the next process */
  }
}

function transform(source, filename) {
  // Only when needed: loading it takes longer than reading all compiled files.
  const { transformSync } = require('@swc/core');
  return transformSync(source, {
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
  }).code;
}

const compileNatively = Module._extensions['.ts'];
Module._extensions['.ts'] = (module, filename) => {
  if (filename.includes(packages) && compileNatively) compileNatively(module, filename);
  else module._compile(compiled(filename), filename);
};

process.setSourceMapsEnabled(true);

if (require.main === module) {
  const [, , file, ...rest] = process.argv;
  if (!file) throw new Error('Usage: node test/support/run-ts.cjs <file.ts> [arguments]');
  const entry = resolve(file);
  process.argv.splice(1, process.argv.length, entry, ...rest);
  require(entry);
}
