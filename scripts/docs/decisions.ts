import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { page, table } from './markdown';

const DIRECTORY = 'docs/decisions';
const TITLE = /^# (\d+)\. (.+)$/m;

const INTRODUCTION = `# Decisions

<!-- Generated from the titles of the records by \`npm run docs:write\`; do not edit. -->

Decisions that readers ask about, half a page each: context, decision, consequences. A decision that changes gets a new
record that names the old one, and the old one names its replacement.
`;

/**
 * Renders docs/decisions/README.md, the list of all decision records.
 * @throws {Error} when a record has no title of the form `# 12. Title`
 */
export async function renderDecisions(): Promise<string> {
  const files = (await readdir(DIRECTORY)).filter((file) => /^\d{4}-.*\.md$/.test(file)).sort();
  const rows = await Promise.all(
    files.map(async (file) => {
      const [, number, title] = TITLE.exec(await readFile(join(DIRECTORY, file), 'utf8')) ?? [];
      if (number === undefined || title === undefined) throw new Error(`${file} has no title.`);
      return [number, `[${title}](${file})`];
    }),
  );
  return page(INTRODUCTION, ...table(['No.', 'Decision'], rows));
}
