import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { renderDecisions } from './docs/decisions';
import { renderErrors } from './docs/errors';
import { renderEvents } from './docs/events';
import { renderOpenApi } from './docs/openapi';
import { renderRoutes } from './docs/routes';

/**
 * Writes the documents that are made from the code: `npm run docs:write`. With `--check` (`npm run docs:check`), writes
 * nothing, and fails if a committed document differs from the one that would be written. To add a document, add a line
 * to DOCUMENTS.
 */
const DOCUMENTS: readonly (readonly [path: string, render: () => string | Promise<string>])[] = [
  ['openapi/openapi.json', renderOpenApi],
  ['docs/errors.md', renderErrors],
  ['docs/events.md', renderEvents],
  ['docs/routes.md', renderRoutes],
  ['docs/decisions/README.md', renderDecisions],
];

async function main(isCheck: boolean): Promise<void> {
  const outdated: string[] = [];
  for (const [path, render] of DOCUMENTS) {
    const fresh = await render();
    const committed = await readFile(resolve(path), 'utf8').catch(() => null);
    if (committed === fresh) continue;
    outdated.push(`${path}${isCheck ? firstDifference(committed, fresh) : ''}`);
    if (!isCheck) await writeFile(resolve(path), fresh);
  }
  if (!isCheck) {
    console.log(
      `docs: ${outdated.length === 0 ? 'all up to date' : `wrote ${outdated.join(', ')}`}`,
    );
  } else if (outdated.length > 0) {
    console.error(`Not what the code says; run \`npm run docs:write\` and commit:`);
    for (const difference of outdated) console.error(`  ${difference}`);
    process.exitCode = 1;
  } else {
    console.log(`docs: ${DOCUMENTS.length} documents are what the code says`);
  }
}

function firstDifference(committed: string | null, fresh: string): string {
  if (committed === null) return ' is missing';
  const theirs = committed.split('\n');
  const ours = fresh.split('\n');
  const index = ours.findIndex((line, at) => line !== theirs[at]);
  const at = index === -1 ? ours.length : index;
  return ` differs from line ${at + 1}:\n    - ${theirs[at] ?? ''}\n    + ${ours[at] ?? ''}`;
}

void main(process.argv.includes('--check'));
