import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Name and version of package.json, for the logs of receivers. */
export const USER_AGENT = userAgentOf(findManifest(__dirname));

/** Searches upward, because sources and compiled files are at different depths below package.json. */
function findManifest(directory: string): string {
  const path = join(directory, 'package.json');
  return existsSync(path) || dirname(directory) === directory
    ? path
    : findManifest(dirname(directory));
}

function userAgentOf(manifestPath: string): string {
  const { name, version } = JSON.parse(readFileSync(manifestPath, 'utf8')) as {
    readonly name: string;
    readonly version: string;
  };
  return `${name}/${version}`;
}
