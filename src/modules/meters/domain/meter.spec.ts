import type { Aggregation } from '../../../core/usage';
import { faultsOfMeter, type MeterTerms } from './meter';

const terms: MeterTerms = {
  key: 'api_calls',
  name: 'API calls',
  eventName: 'api_call',
  aggregation: 'count',
  valueProperty: null,
  filters: [],
  groupBy: [],
  lateEvents: 'next_invoice',
  isRecurring: false,
  metadata: {},
};

describe('the terms of a meter', () => {
  test.each<[Aggregation, string | null, boolean, readonly string[]]>([
    ['count', null, false, []],
    ['count', 'bytes', false, ['/value_property']],
    ['count', null, true, ['/is_recurring']],
    ['sum', 'bytes', false, []],
    ['sum', null, false, ['/value_property']],
    ['unique', 'user', true, ['/is_recurring']],
    ['weighted_sum', 'seats', true, []],
    ['weighted_sum', null, true, ['/value_property']],
  ])('%s of %j, recurring %j: faults at %j', (aggregation, valueProperty, isRecurring, at) => {
    const faults = faultsOfMeter({ ...terms, aggregation, valueProperty, isRecurring });
    expect(faults.map(({ pointer }) => pointer)).toEqual(at);
  });
});
