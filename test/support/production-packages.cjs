/**
 * Lets a process find only the packages that `npm ci --omit=dev` installs. Loaded with `node --require`. Also allows
 * the compiler of `run-ts.cjs`, because an installation has compiled code instead.
 */
const Module = require('node:module');
const { relative, resolve, sep } = require('node:path');
const { packages } = require('../../package-lock.json');

const ROOT = resolve(__dirname, '../..');
const COMPILER = [resolve(__dirname, 'run-ts.cjs'), `${ROOT}/node_modules/@swc/`];

/** Returns the path of the installed package that a file belongs to, as the lock file names it. */
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
