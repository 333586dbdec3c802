import { TextField } from '../../../platform/http';

export function FailureCodeFilter(objects: string, example: string): PropertyDecorator {
  const description = `Only failed ${objects} with this code; none if \`status\` differs.`;
  return TextField(description, { max: 100, optional: true, example });
}
