import { EnumField } from '../../platform/http';

/**
 * Declares an optional query parameter of a list. Its only value is `none`: the list then leaves out objects of
 * customers on test clocks.
 * @param objects name of the listed objects, for the description
 */
export function RealTimeFilter(objects: string): PropertyDecorator {
  const description = `With \`none\`: only ${objects} of customers who are not on a test clock.`;
  return EnumField(['none'], description, { optional: true });
}
