/**
 * Keeps in `node_modules/.cache` what takes most of the time of loading modules, for the next process: compiled files, the paths
 * of packages, and the code that V8 makes of scripts.
 */
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

const packages = resolve(__dirname, '../../node_modules');
const cache = join(packages, '.cache/run-ts');
/** Fewest additions for which the whole file is written again. */
const WORTH_WRITING = 50;
const OPENING = '(function (exports, require, module, __filename, __dirname) { ';

/** Returns the content of a kept file, or null. */
function read(name, encoding = 'utf8') {
  try {
    return readFileSync(join(cache, name), encoding);
  } catch {
    return null;
  }
}

/** Writes the content in one step, because other processes may read it. Without the right to write, nothing is kept. */
function keep(name, content) {
  const file = join(cache, name);
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(unfinished, content);
    renameSync(unfinished, file);
  } catch {
    /* made again by the next process */
  }
}

/** Keeps the paths to which the names of packages, and the paths within them, resolve until packages are installed again. */
function keepPaths() {
  const { mtimeMs } = statSync(join(packages, '.package-lock.json'));
  const name = `paths-${hash('sha1', `${packages} ${mtimeMs}`)}.json`;
  const known = new Map(JSON.parse(read(name) ?? '[]'));
  const kept = known.size;
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = (request, parent, ...rest) => {
    const from = parent?.filename ?? '';
    const isOfPackages = from.startsWith(packages + sep) || !/^[./]/.test(request);
    if (from === '' || !isOfPackages || rest[1] !== undefined) {
      return resolveFilename(request, parent, ...rest);
    }
    const key = `${dirname(from)}\0${request}`;
    if (!known.has(key)) known.set(key, resolveFilename(request, parent, ...rest));
    return known.get(key);
  };
  process.once('exit', () => {
    if (known.size - kept >= WORTH_WRITING) keep(name, JSON.stringify([...known]));
  });
}

/** Keeps V8's code of each script until its source changes. It includes the functions that were called so far. */
function keepScripts() {
  // V8 refuses code of another version, and of a process with other options.
  const name = `scripts-${hash('sha1', `${packages} ${cachedDataVersionTag()}`)}`;
  const { places, code } = readScripts(name);
  const added = new Map();
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, format) {
    // `import()` works only in scripts that Node compiles itself.
    if (/\bimport\(/.test(content)) return compile.call(this, content, filename, format);
    const source = content.replace(/^#!.*/, '');
    const digest = hash('sha1', source);
    const place = places[filename];
    const cachedData = place?.digest === digest ? code.subarray(place.start, place.end) : undefined;
    let script;
    try {
      script = new Script(`${OPENING}${source}\n})`, {
        filename,
        columnOffset: -OPENING.length,
        cachedData,
      });
    } catch {
      // Not CommonJS, or Node explains the error of syntax.
      return compile.call(this, content, filename, format);
    }
    if (script.cachedDataRejected !== false) added.set(filename, { digest, script });
    const values = [this.exports, requireOf(this), this, filename, dirname(filename)];
    return Reflect.apply(script.runInThisContext(), this.exports, values);
  };
  process.once('exit', () => {
    if (added.size >= WORTH_WRITING) writeScripts(name, { places, code }, added);
  });
}

/** Returns what a module calls `require`. */
function requireOf(module) {
  const require = (name) => module.require(name);
  const resolveName = (name, options) => Module._resolveFilename(name, module, false, options);
  const paths = (name) => Module._resolveLookupPaths(name, module);
  return Object.assign(require, {
    resolve: Object.assign(resolveName, { paths }),
    main: process.mainModule,
    extensions: Module._extensions,
    cache: Module._cache,
  });
}

/** Reads a file of scripts: one line of JSON with the position of each, then their code. */
function readScripts(name) {
  const file = read(name, null);
  if (file === null) return { places: {}, code: Buffer.alloc(0) };
  const end = file.indexOf('\n');
  return { places: JSON.parse(file.toString('utf8', 0, end)), code: file.subarray(end + 1) };
}

function writeScripts(name, { places, code }, added) {
  const parts = [code];
  let start = code.length;
  const all = { ...places };
  for (const [filename, { digest, script }] of added) {
    const data = script.createCachedData();
    parts.push(data);
    all[filename] = { digest, start, end: start + data.length };
    start += data.length;
  }
  keep(name, Buffer.concat([Buffer.from(`${JSON.stringify(all)}\n`), ...parts]));
}

module.exports = { keep, keepPaths, keepScripts, read };
