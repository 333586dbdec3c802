import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const PRODUCT = JSON.parse(readFileSync(findManifest(__dirname), 'utf8')) as {
  readonly name: string;
  readonly version: string;
};

/** Searches upward for package.json, because sources and compiled files are at different depths below it. */
function findManifest(directory: string): string {
  const path = join(directory, 'package.json');
  return existsSync(path) || dirname(directory) === directory
    ? path
    : findManifest(dirname(directory));
}
