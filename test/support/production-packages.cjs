/**
 * Lets a process find only the packages that `npm ci --omit=dev` installs. Loaded with `node --require`. The compiler
 * of `run-ts.cjs` may use other packages, because a real installation has compiled code and needs no compiler.
 */
const Module = require('node:module');
const { relative, resolve, sep } = require('node:path');
const { packages } = require('../../package-lock.json');

const ROOT = resolve(__dirname, '../..');
const COMPILER = [resolve(__dirname, 'run-ts.cjs'), `${ROOT}/node_modules/@swc/`];

/** Returns the folder of the package that a file belongs to, as the lock file writes it; null for files of this project. */
function packageOf(file) {
  const parts = relative(ROOT, file).split(sep);
  const last = parts.lastIndexOf('node_modules');
  if (last === -1) return null;
  const length = parts[last + 1]?.startsWith('@') ? 3 : 2;
  return parts.slice(0, last + length).join('/');
}

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function resolveInstalled(request, parent, ...rest) {
  const file = resolveFilename.call(this, request, parent, ...rest);
  const isCompiler = COMPILER.some((path) => parent?.filename?.startsWith(path));
  const found = isCompiler ? null : packageOf(file);
  if (found === null || packages[found]?.dev !== true) return file;
  const error = new Error(`${found} is a development dependency, required by ${parent?.filename}`);
  error.code = 'MODULE_NOT_FOUND';
  throw error;
};
