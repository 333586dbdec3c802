/**
 * Checks the OpenAPI document against Spectral's rules `spectral:oas`, as a part of `npm run openapi:lint`. A warning
 * is also a failure.
 */
import { readFile } from 'node:fs/promises';
import spectral from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

const PATH = 'openapi/openapi.json';

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
const text = await readFile(PATH, 'utf8');
const findings = await linter.run(new spectral.Document(text, parsers.Json, PATH));
for (const { code, message, path, range } of findings) {
  console.error(`${PATH}:${range.start.line + 1} ${code}: ${message} (${path.join('.')})`);
}
console.log(`spectral:oas: ${findings.length} findings`);
process.exitCode = findings.length === 0 ? 0 : 1;
