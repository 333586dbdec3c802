import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';

/**
 * Shows positions of the TypeScript sources in stack traces of compiled files. Reads the source map of a file only when
 * a stack trace needs it. Node's `--enable-source-maps` would keep the maps of all files in memory.
 */
export function showSourcePositions(): void {
  // Tools that run TypeScript directly show these positions themselves.
  if (!__filename.endsWith('.js')) return;
  Error.prepareStackTrace = (error, sites) =>
    [String(error), ...sites.map((site) => `    at ${withSourcePosition(site)}`)].join('\n');
}

function withSourcePosition(site: NodeJS.CallSite): string {
  const shown = (site as { toString(): string }).toString();
  const file = site.getFileName();
  const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
  // The file is undefined for V8's own functions, such as `Array.map`.
  if (typeof file !== 'string' || line === null || column === null) return shown;
  const entry = mapOf(file)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) return shown;
  const { originalSource, originalLine, originalColumn } = entry;
  const source = resolve(dirname(file), originalSource);
  return shown.replace(
    `${file}:${line}:${column}`,
    () => `${source}:${originalLine + 1}:${originalColumn + 1}`,
  );
}

const maps = new Map<string, SourceMap | null>();

/** Returns the source map of a compiled file; null for a file of a package, or a file without a map. */
function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) return known;
  const map = file.includes('node_modules') ? null : readMap(`${file}.map`);
  maps.set(file, map);
  return map;
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
