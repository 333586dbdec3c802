import { faultsOfFeature } from './feature';

const METER = 'meter_01h455vb4pex5vsknk084sn02q';

describe('the terms of an entitlement', () => {
  it.each([
    ['boolean', null, []],
    ['static', null, []],
    ['metered', null, []],
    ['metered', METER, []],
    ['boolean', METER, ['/meter_id']],
    ['static', METER, ['/meter_id']],
  ] as const)('of type %s with the meter %s: faults %j', (type, meterId, pointers) => {
    const terms = {
      key: 'calls',
      name: 'Calls',
      type,
      unit: null,
      meterId,
      thresholds: [],
      metadata: {},
    };
    expect(faultsOfFeature(terms).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
