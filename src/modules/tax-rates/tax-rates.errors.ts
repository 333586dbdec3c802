import { defineProblem } from '../../platform/errors';

export const taxRateNotFound = defineProblem({
  code: 'tax_rate_not_found',
  kind: 'not_found',
  title: 'There is no such tax rate',
  meaning: 'The id in the path is not the id of a tax rate, or the tax rate was archived.',
  detail: (id: string) => `There is no tax rate ${JSON.stringify(id)}.`,
});
