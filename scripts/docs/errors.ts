import { STATUS_CODES } from 'node:http';
import { allProblems, type ProblemDefinition } from '../../src/platform/errors';
import { STATUS_OF_KIND } from '../../src/platform/http/problem-response';
import { anchored, page, table } from './markdown';

const INTRODUCTION = `# Errors

<!-- Generated from the \`*.errors.ts\` files by \`npm run docs:write\`; do not edit. -->

Every answer with a status of 400 or more is an \`application/problem+json\` (RFC 9457):
\`{ type, title, status, detail, code, request_id, errors: [{ pointer, code, message }] }\`. \`code\` is stable, and what a
client branches on; \`title\` and \`detail\` are for people and may change.`;

/** Renders docs/errors.md: every error code, by status. The modules must be loaded first. */
export function renderErrors(): string {
  const byStatus = new Map<number, ProblemDefinition[]>();
  for (const problem of allProblems()) {
    const status = STATUS_OF_KIND[problem.kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), problem]);
  }
  const sections = [...byStatus]
    .sort(([one], [other]) => one - other)
    .flatMap(([status, problems]) => ['', ...section(status, problems)]);
  return page(INTRODUCTION, ...sections);
}

function section(status: number, problems: readonly ProblemDefinition[]): readonly string[] {
  return [
    `## ${status} ${STATUS_CODES[status] ?? ''}`,
    '',
    ...table(
      ['Code', 'Title', 'When, and what to do'],
      problems.map(({ code, title, meaning }) => [anchored(code), title, meaning]),
    ),
  ];
}
