/**
 * Caches the results of loading modules in `node_modules/.cache` for later processes: compiled files, resolved paths of
 * packages, and V8's compiled code of scripts.
 */
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');

const packages = resolve(__dirname, '../../node_modules');
const cache = join(packages, '.cache/run-ts');
/** Number of new scripts from which on the file with all scripts is written again. */
const WORTH_WRITING = 50;
const OPENING = '(function (exports, require, module, __filename, __dirname) { ';

/** Returns the content of a cached file, or null. */
function read(name, encoding = 'utf8') {
  try {
    return readFileSync(join(cache, name), encoding);
  } catch {
    return null;
  }
}

/** Writes a file in one step, because other processes may read it meanwhile. Does nothing if the file cannot be written. */
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

/**
 * Caches to which file the name of a package, or a path in a package, leads. The cache is valid until packages are
 * installed again.
 */
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

/**
 * Caches the compiled text of each module, and V8's code of this text, until the file of the module changes. V8's code
 * includes the functions that were called before it was cached. Call this after the last change of
 * `Module._extensions`.
 * @param compiler hash of the compiler and its settings; another hash has a cache of its own
 * @param maps names of source maps by file name
 */
function keepScripts(compiler, maps) {
  // V8 refuses code of another version, and of a process with other options.
  const name = `scripts-${hash('sha1', `${packages} ${compiler} ${cachedDataVersionTag()}`)}`;
  const { places, content } = readScripts(name);
  const versions = new Map();
  const added = new Map();
  const run = (module, filename, script) => {
    const values = [module.exports, requireOf(module), module, filename, dirname(filename)];
    return Reflect.apply(script.runInThisContext(), module.exports, values);
  };
  const scriptOf = (filename, text, cachedData) => {
    const script = new Script(text, { filename, columnOffset: -OPENING.length, cachedData });
    if (script.cachedDataRejected !== false) {
      added.set(filename, {
        version: versions.get(filename),
        text,
        script,
        map: maps.get(filename),
      });
    }
    return script;
  };
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (source, filename, format) {
    // `import()` works only in scripts that Node compiles itself.
    if (/\bimport\(/.test(source)) return compile.call(this, source, filename, format);
    let script;
    try {
      script = scriptOf(filename, `${OPENING}${source.replace(/^#!.*/, '')}\n})`);
    } catch {
      // Either the file is not CommonJS, or it has a syntax error, which Node explains.
      return compile.call(this, source, filename, format);
    }
    return run(this, filename, script);
  };
  for (const extension of ['.js', '.mjs', '.ts']) {
    const load = Module._extensions[extension];
    Module._extensions[extension] = (module, filename) => {
      // Reads the time before the source, so that the next process notices a change in between.
      const { mtimeMs, size } = statSync(filename);
      const version = `${mtimeMs} ${size}`;
      versions.set(filename, version);
      const place = places[filename];
      if (place?.version !== version) return load(module, filename);
      if (place.map !== undefined) maps.set(filename, place.map);
      const text = content.toString(place.encoding, place.start, place.codeStart);
      const code = content.subarray(place.codeStart, place.end);
      return run(module, filename, scriptOf(filename, text, code));
    };
  }
  process.once('exit', () => {
    if (added.size >= WORTH_WRITING) writeScripts(name, { places, content }, added);
  });
}

/** Returns the function that a module calls as `require`. */
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

/**
 * Reads a file of scripts. Its first line is JSON with the position of each script; then follow the text and the code
 * of each.
 */
function readScripts(name) {
  const file = read(name, null);
  if (file === null) return { places: {}, content: Buffer.alloc(0) };
  const end = file.indexOf('\n');
  return { places: JSON.parse(file.toString('utf8', 0, end)), content: file.subarray(end + 1) };
}

/** Writes the new scripts, and those cached scripts that no new script replaces. */
function writeScripts(name, { places, content }, added) {
  const parts = [];
  const all = {};
  let start = 0;
  const add = (filename, place, text, code) => {
    const codeStart = start + text.length;
    const end = codeStart + code.length;
    all[filename] = { ...place, start, codeStart, end };
    parts.push(text, code);
    start = end;
  };
  for (const [filename, place] of Object.entries(places)) {
    if (added.has(filename)) continue;
    const { codeStart } = place;
    const text = content.subarray(place.start, codeStart);
    add(filename, place, text, content.subarray(codeStart, place.end));
  }
  for (const [filename, { text, script, ...place }] of added) {
    const bytes = Buffer.from(text);
    // Reading ASCII is several times as fast as reading UTF-8.
    const encoding = bytes.length === text.length ? 'latin1' : 'utf8';
    add(filename, { ...place, encoding }, bytes, script.createCachedData());
  }
  keep(name, Buffer.concat([Buffer.from(`${JSON.stringify(all)}\n`), ...parts]));
}

module.exports = { keep, keepPaths, keepScripts, read };
