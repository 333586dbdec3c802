/** Generates the types of the API for the console, from the committed OpenAPI document, when it has changed. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const source = join(root, 'openapi', 'openapi.json');
const folder = join(root, 'studio', 'generated');
const target = join(folder, 'api.d.ts');

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt(target) < changedAt(source)) {
  const { default: generate, astToString } = await import('openapi-typescript');
  // A field with a default may be left out of a request.
  const nodes = await generate(pathToFileURL(source), { defaultNonNullable: false });
  mkdirSync(folder, { recursive: true });
  writeFileSync(target, astToString(nodes));
}
