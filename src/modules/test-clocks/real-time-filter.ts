import { EnumField } from '../../platform/http';

/** Query parameter that leaves out objects of customers on test clocks. */
export function RealTimeFilter(objects: string): PropertyDecorator {
  const description = `With \`none\`: only ${objects} of customers who are not on a test clock.`;
  return EnumField(['none'], description, { optional: true });
}
