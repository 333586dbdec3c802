import { TextField } from '../../../platform/http';

/** Query parameter with the failure code of the objects that a list returns. */
export function FailureCodeFilter(objects: string, example: string): PropertyDecorator {
  const description = `Only failed ${objects} with this code; none if \`status\` differs.`;
  return TextField(description, { max: 100, optional: true, example });
}
