import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Name and version of package.json. */
export const PRODUCT = JSON.parse(readFileSync(findManifest(__dirname), 'utf8')) as {
  readonly name: string;
  readonly version: string;
};

/** Searches upward, because sources and compiled files are at different depths below package.json. */
function findManifest(directory: string): string {
  const path = join(directory, 'package.json');
  return existsSync(path) || dirname(directory) === directory
    ? path
    : findManifest(dirname(directory));
}
