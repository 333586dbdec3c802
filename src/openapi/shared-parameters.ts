import type { OpenAPIObject } from '@nestjs/swagger';
import { type OperationObject, operationsOf } from './operations';

type Parameter = NonNullable<OperationObject['parameters']>[number];

/** Minimum number of operations that must have a parameter before it is moved to the components. */
const LEAST_USES = 3;

/**
 * Moves query parameters and headers to the components if at least {@link LEAST_USES} operations have them. If
 * operations declare the same name differently, moves only the most frequent declaration.
 */
export function shareParameters(document: OpenAPIObject): void {
  const operations = operationsOf(document.paths).map(({ operation }) => operation);
  const uses = new Map<string, number>();
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    // The default, left out to keep the document small.
    if ('required' in parameter && parameter.required === false) delete parameter.required;
    const text = JSON.stringify(parameter);
    uses.set(text, (uses.get(text) ?? 0) + 1);
  }
  const shared: Record<string, Parameter> = {};
  for (const [text, count] of [...uses].sort(([, one], [, other]) => other - one)) {
    const parameter = JSON.parse(text) as Parameter;
    if ('$ref' in parameter || parameter.in === 'path' || count < LEAST_USES) continue;
    shared[parameter.name] ??= parameter;
  }
  const names = new Map(Object.entries(shared).map(([name, one]) => [JSON.stringify(one), name]));
  for (const operation of operations) {
    operation.parameters = operation.parameters?.map((parameter) => {
      const name = names.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    });
  }
  document.components = { ...document.components, parameters: shared };
}
