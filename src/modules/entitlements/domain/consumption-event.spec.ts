import { parseDecimal } from '../../../core/decimal';
import { eventPropertiesOf } from './consumption-event';

describe('a consumption as an event of a meter', () => {
  const twice = (...values: readonly (readonly string[])[]) =>
    values.map((one) => ({ property: 'region', in: one }));
  const filters = [{ property: 'region', in: ['eu', 'us'] }];

  test.each([
    ['sum', 'amount', [], '2.50', { amount: '2.5' }],
    ['sum', 'amount', filters, '2', { amount: '2', region: 'eu' }],
    ['sum', 'region', filters, '2', null],
    ['count', null, filters, '1.0', { region: 'eu' }],
    ['count', null, [], '2', null],
    ['max', 'amount', [], '1', null],
    ['latest', 'amount', [], '1', null],
    ['unique', 'amount', [], '1', null],
    ['weighted_sum', 'amount', [], '1', null],
    ['sum', 'constructor', [], '3', { constructor: '3' }],
    ['sum', 'amount', twice(['eu', 'us'], ['ap', 'us']), '1', { amount: '1', region: 'us' }],
    ['sum', 'amount', twice(['eu'], ['us']), '1', null],
    ['count', null, twice(['eu'], ['us']), '1', null],
  ])('for %s of %s with %j, %s: %j', (aggregation, valueProperty, by, quantity, expected) => {
    const meter = { aggregation, valueProperty, filters: by };
    expect(eventPropertiesOf(meter, parseDecimal(quantity))).toEqual(expected);
  });
});
