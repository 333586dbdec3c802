import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What receivers see in their logs: the name and the version of package.json. */
export const USER_AGENT = userAgentOf(findManifest(__dirname));

/** The sources and what is compiled from them lie at different depths below package.json. */
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
